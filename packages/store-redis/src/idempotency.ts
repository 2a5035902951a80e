import { createKeyLine, type Idempotency } from "@formbridge/core";
import type { Locks } from "./lock.ts";
import { nameOf, type RecordCache } from "./records.ts";
import type { Redis } from "./redis.ts";

interface Parts {
  redis: Redis;
  locks: Locks;
  records: RecordCache;
  /** The database's own. */
  truth: Idempotency;
}

/**
 * One line in each process, and one lock for them all: whoever heads a line asks Redis. In a process it goes by arrival, among
 * processes by chance. Without Redis nobody enters.
 */
export function createIdempotency({ redis, locks, records, truth }: Parts): Idempotency {
  const line = createKeyLine();
  return {
    async enter(key, { timeoutMs, maxWaiters }) {
      const began = performance.now();
      const leaveLine = await line(key, { timeoutMs, maxWaiters });
      if (leaveLine === undefined) return undefined;
      const release = await locks.acquire(nameOf(key), timeoutMs - (performance.now() - began)).catch((error) => {
        leaveLine();
        throw error;
      });
      if (release === undefined) {
        leaveLine();
        return undefined;
      }
      let inside = true;
      return () => {
        if (!inside) return;
        inside = false;
        void release().then(leaveLine);
      };
    },
    find: async (key) => (await records.find(key)) ?? truth.find(key),
    keysOf: truth.keysOf,
    forgetExpired: truth.forgetExpired,
    health: redis.health,
  };
}
