import type { Database } from "better-sqlite3";

const MAX_ENTRIES = 10_000;
const LOOK_EVERY_MS = 10;

/**
 * Remembers what is read on every request and hardly ever changes: API keys, and which definition an intake has. A write of
 * this process says so at once; one of another process (a command) shows in SQLite's own counter, looked at every few
 * milliseconds.
 */
export interface ReadCache {
  get<Value>(key: string, read: () => Value): Value;
  forget(): void;
}

export function createReadCache(db: Database): ReadCache {
  const counter = db.prepare<[], number>("PRAGMA data_version").pluck();
  const entries = new Map<string, unknown>();
  let seen = counter.get();
  let looked = performance.now();
  function look(): void {
    const now = counter.get();
    if (now !== seen) entries.clear();
    seen = now;
    looked = performance.now();
  }
  return {
    get<Value>(key: string, read: () => Value): Value {
      if (performance.now() - looked > LOOK_EVERY_MS) look();
      if (entries.size >= MAX_ENTRIES) entries.clear();
      if (entries.has(key)) return entries.get(key) as Value;
      const value = read();
      // What is not there is not remembered: anybody can ask for endless things that are not there.
      if (value !== undefined) entries.set(key, value);
      return value;
    },
    forget: () => entries.clear(),
  };
}
