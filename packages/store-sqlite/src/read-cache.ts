import type { Database } from "better-sqlite3";

const MAX_ENTRIES = 10_000;

/**
 * Caches what is read on every request and hardly ever changes: API keys, and which definition an intake has. Before an entry is used,
 * SQLite reports whether any other connection has committed since (`data_version`), so a read is never older than the last commit of
 * any process. It doesn't count writes through this connection: they must call `forget`.
 */
export interface ReadCache {
  get<Value>(key: string, read: () => Value): Value;
  forget(): void;
}

export function createReadCache(db: Database): ReadCache {
  const dataVersion = db.prepare<[], number>("PRAGMA data_version").pluck();
  const entries = new Map<string, unknown>();
  let seen = dataVersion.get();
  return {
    get<Value>(key: string, read: () => Value): Value {
      const current = dataVersion.get();
      if (current !== seen || entries.size >= MAX_ENTRIES) entries.clear();
      seen = current;
      if (entries.has(key)) return entries.get(key) as Value;
      const value = read();
      // Misses aren't cached: anybody can ask for any number of names that don't exist.
      if (value !== undefined) entries.set(key, value);
      return value;
    },
    forget: () => entries.clear(),
  };
}
