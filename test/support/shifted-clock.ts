import { globSync } from "node:fs";

/** The environment of a process with a shifted clock, such as "+1h". Its timers still use real time. */
export function shiftedClock(by: string): Record<string, string> {
  const [library] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");
  if (library === undefined)
    throw new Error("node scripts/services.mjs installs what this needs, from the package faketime.");
  return { LD_PRELOAD: library, FAKETIME: by, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
