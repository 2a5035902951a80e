import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHARED_MEMORY = "/dev/shm";

/** A folder in memory, if the system has one: for tests about the order of writes rather than the disk. */
export function memoryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), "formbridge-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
