const MAX_ENTRIES = 10_000;

/**
 * Remembers what is read on every request and hardly ever changes: API keys, and which definition an intake has. A write of
 * this process says so at once; one of another process is noticed within milliseconds.
 */
export interface ReadCache {
  get<Value>(key: string, read: () => Value): Value;
  forget(): void;
}

export function createReadCache(lookForForeignWrites: () => void): ReadCache {
  const entries = new Map<string, unknown>();
  return {
    get<Value>(key: string, read: () => Value): Value {
      lookForForeignWrites();
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
