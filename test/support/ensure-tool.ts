import { execFileSync, spawnSync } from "node:child_process";

const isThere = (command: string): boolean =>
  spawnSync(command, ["--version"], { stdio: "ignore" }).error === undefined;

/** A command that a test needs beside Node. Installed when it is missing; what can't be had is said, never skipped. */
export function ensureTool(command: string, aptPackage = command): void {
  if (isThere(command)) return;
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    execFileSync("apt-get", ["install", "--yes", "--no-install-recommends", aptPackage], { stdio: "pipe", env });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`This test needs ${command}. Installing the package ${aptPackage} with apt-get failed: ${why}`, {
      cause,
    });
  }
  if (!isThere(command))
    throw new Error(`This test needs ${command}; the package ${aptPackage} was installed and does not have it.`);
}
