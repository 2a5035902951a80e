import Sqlite, { type Database } from "better-sqlite3";

/** The whole process waits: long enough for a command that writes a row, not for one that forgot to end. */
const BUSY_TIMEOUT_MS = 1_000;

/** Opens the file as FormBridge uses it, and creates it when absent. The schema is `migrate`'s business. */
export function openDatabase(file: string): Database {
  const db = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  db.pragma("journal_mode = WAL");
  // WAL with NORMAL may lose the last commits when the power fails; an answered commit must not be lost.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("temp_store = MEMORY");
  db.pragma("cache_size = -65536");
  return db;
}
