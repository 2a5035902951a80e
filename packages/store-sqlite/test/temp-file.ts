import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A path for a database, in a folder that is removed after the test. */
export function tempFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store.db");
}
