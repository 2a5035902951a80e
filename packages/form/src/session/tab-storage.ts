import type { Edit } from "./edits.ts";
import type { EditStorage } from "./form-state.ts";

export interface TabStorageOptions {
  /** The browser's `localStorage`. Reading the property may throw, so it is read when it is needed. */
  storage(): Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;
  /** The browser's `navigator.locks`; absent where the page is not secure. */
  locks: Pick<LockManager, "request"> | undefined;
  /** Calls back with the key that another tab has written (the browser's `storage` event); returns how to stop. */
  onChange?(changed: (key: string) => void): () => void;
  tabId?: string;
}

const PREFIX = "formbridge:unsaved:";

/**
 * Unsaved edits in the browser, each tab's under a key of its own. A tab holds a lock while it lives; when the lock is
 * free, the tab was closed, reloaded or has crashed, and the next one takes its edits over. So two tabs of one person
 * never remove or repeat each other's edits. Browsers may refuse to store: then a crash costs the last seconds.
 */
export function createTabStorage(options: TabStorageOptions): EditStorage {
  const { storage, locks, onChange, tabId = crypto.randomUUID() } = options;
  const keyFor = (submissionId: string, tab: string) => `${PREFIX}${submissionId}:${tab}`;
  const waiting = new AbortController();
  if (locks !== undefined) void locks.request(lockOf(tabId), () => new Promise<never>(() => {})).catch(() => {});

  function read(key: string): Edit[] {
    try {
      const found: unknown = JSON.parse(storage().getItem(key) ?? "[]");
      return Array.isArray(found) ? (found as Edit[]).filter((edit) => Array.isArray(edit?.path)) : [];
    } catch {
      return [];
    }
  }

  function write(key: string, edits: readonly Edit[]): void {
    try {
      if (edits.length === 0) storage().removeItem(key);
      else storage().setItem(key, JSON.stringify(edits));
    } catch {
      // Storage is full or forbidden. The server still gets everything.
    }
  }

  const isOther = (submissionId: string, key: string): boolean =>
    key.startsWith(keyFor(submissionId, "")) && key !== keyFor(submissionId, tabId);

  function othersOf(submissionId: string): string[] {
    try {
      const kept = storage();
      const keys = Array.from({ length: kept.length }, (_, index) => kept.key(index) ?? "");
      return keys.filter((key) => isOther(submissionId, key));
    } catch {
      return [];
    }
  }

  return {
    async takeOver(submissionId, take) {
      const takeFrom = (key: string) => write(key, take(read(key)));
      const awaited = new Set<string>();
      const lockNameOf = (key: string): string => lockOf(key.slice(keyFor(submissionId, "").length));
      /** Its tab is open, or just being closed: takes its edits when the lock is free. */
      const takeLater = (key: string): void => {
        if (locks === undefined || awaited.has(key)) return;
        awaited.add(key);
        void locks.request(lockNameOf(key), { signal: waiting.signal }, () => takeFrom(key)).catch(() => {});
      };
      const stop = onChange?.((key) => {
        if (isOther(submissionId, key)) takeLater(key);
      });
      if (stop !== undefined) waiting.signal.addEventListener("abort", stop, { once: true });
      for (const key of othersOf(submissionId)) {
        if (locks === undefined) {
          takeFrom(key);
          continue;
        }
        const isFree = await locks.request(lockNameOf(key), { ifAvailable: true }, (lock) => {
          if (lock !== null) takeFrom(key);
          return lock !== null;
        });
        if (!isFree) takeLater(key);
      }
    },
    save: (submissionId, edits) => write(keyFor(submissionId, tabId), edits),
    close: () => waiting.abort(),
  };
}

const lockOf = (tab: string): string => `formbridge:tab:${tab}`;
