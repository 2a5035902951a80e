import type { Database } from "better-sqlite3";

const MAX_ENTRIES = 10_000;

/**
 * Remembers what is read on every request and hardly ever changes: API keys, and which definition an intake has. Nothing in it
 * is ever out of date: a write of this process says so, and one of another process shows in SQLite's own counter.
 */
export interface ReadCache {
  get<Value>(key: string, read: () => Value): Value;
  forget(): void;
}

export function createReadCache(db: Database): ReadCache {
  const counter = db.prepare<[], number>("PRAGMA data_version").pluck();
  const entries = new Map<string, unknown>();
  let seen = counter.get();
  return {
    get<Value>(key: string, read: () => Value): Value {
      const now = counter.get();
      if (now !== seen || entries.size >= MAX_ENTRIES) entries.clear();
      seen = now;
      if (entries.has(key)) return entries.get(key) as Value;
      const value = read();
      // What is not there is not remembered: anybody can ask for endless things that are not there.
      if (value !== undefined) entries.set(key, value);
      return value;
    },
    forget: () => entries.clear(),
  };
}
