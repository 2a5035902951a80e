import { readFileSync } from "node:fs";

/** The kernel's unit for CPU time. */
const TICKS_A_SECOND = 100;

/** Seconds of CPU of a process, and of its children that have exited. Zero if it has exited itself. */
export function cpuSecondsOf(pid: number): { own: number; ended: number } {
  const ticks = statOf(pid).slice(11, 15).map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = ticks;
  return { own: (user + system) / TICKS_A_SECOND, ended: (endedUser + endedSystem) / TICKS_A_SECOND };
}

function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  } catch {
    return [];
  }
}
