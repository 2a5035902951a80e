import { closeSync, openSync } from "node:fs";
import Sqlite, { type Database } from "better-sqlite3";

/** Long enough for a command to write a row, but not for one that hangs. */
const BUSY_TIMEOUT_MS = 1_000;
/**
 * Once a thread checkpoints, a commit does so only when the log has this many pages. Under steady load the log starts over only after
 * such a commit, because the thread never finds it idle; and that commit waits for the disk, so it must be rare.
 */
export const LOG_PAGES = 32_000;

/** Enough for reads of a file with millions of tokens. */
const CACHE_KIB = 32_768;

/** Opens the file as FormBridge uses it, and creates it when absent. The schema is up to `migrate`. */
export function openDatabase(file: string): Database {
  // Only for its owner, whatever the folder allows. SQLite gives the files beside it the same mode.
  closeSync(openSync(file, "a", 0o600));
  const db = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  db.pragma("journal_mode = WAL");
  // WAL with NORMAL may lose the last commits in a power failure; an acknowledged commit must not get lost.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("temp_store = MEMORY");
  db.pragma(`cache_size = -${CACHE_KIB}`);
  return db;
}
