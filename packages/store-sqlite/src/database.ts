import Sqlite, { type Database } from "better-sqlite3";

/** Whoever writes waits, and all who write behind it: long enough for a command that writes a row, not for one that forgot to end. */
const BUSY_TIMEOUT_MS = 1_000;
/**
 * Where a thread empties the log, a commit does it only from here on. Under steady load the log starts again only after such a commit,
 * since the thread never finds it at rest; and the commit waits for the disk, so it must be rare.
 */
export const LOG_PAGES = 32_000;

/** Enough for reads of a file with millions of tokens. */
const CACHE_KIB = 32_768;

/** Opens the file as FormBridge uses it, and creates it when absent. The schema is `migrate`'s business. */
export function openDatabase(file: string): Database {
  const db = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  db.pragma("journal_mode = WAL");
  // WAL with NORMAL may lose the last commits when the power fails; an answered commit must not be lost.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("temp_store = MEMORY");
  db.pragma(`cache_size = -${CACHE_KIB}`);
  return db;
}

/** For the thread that commits: after a commit that split a page, SQLite walks through all that its connection has cached. */
export function keepLess(db: Database): void {
  db.pragma(`cache_size = -${CACHE_KIB / 2}`);
}
