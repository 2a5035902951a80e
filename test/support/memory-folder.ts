import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHARED_MEMORY = "/dev/shm";

/** A folder in memory where the system has one: for tests that race for the order of writes, not for the disk's time. */
export function memoryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), "formbridge-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
