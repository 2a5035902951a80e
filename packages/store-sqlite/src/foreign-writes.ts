import type { Database } from "better-sqlite3";

const LOOK_EVERY_MS = 10;

/**
 * Tells whether another process has written to the file since the last time it was asked. SQLite counts such writes; the count
 * is looked at every few milliseconds, since a look costs as much as a query. This process is the only one that writes
 * submissions; commands beside it write keys.
 */
export function createForeignWrites(db: Database): () => boolean {
  const counter = db.prepare<[], number>("PRAGMA data_version").pluck();
  let seen = counter.get();
  let looked = performance.now();
  return () => {
    const now = performance.now();
    if (now - looked <= LOOK_EVERY_MS) return false;
    looked = now;
    const count = counter.get();
    const changed = count !== seen;
    seen = count;
    return changed;
  };
}
