import { ANOTHER_INSTANCE, createKeyQueue, type Idempotency, type ScopedKey, sha256 } from "@formbridge/core";
import type { Locks } from "./lock.ts";
import type { Redis } from "./redis.ts";

interface Parts {
  redis: Redis;
  locks: Locks;
  /** The database's implementation. */
  truth: Idempotency;
}

/** A key name that reveals neither the scope nor the idempotency key. */
const nameOf = ({ tenant, intakeId, operation, hash }: ScopedKey): string =>
  sha256(JSON.stringify([tenant, intakeId, operation, hash]));

/**
 * One queue per process and one lock shared by all: the head of each queue tries the lock. Order is by arrival within a
 * process and arbitrary across processes. Without Redis nobody enters. Records are only in the database; whoever waits
 * for the lock also checks there, because an instance that died may have left both its lock and its record.
 */
export function createIdempotency({ redis, locks, truth }: Parts): Idempotency {
  const queue = createKeyQueue();
  return {
    ...truth,
    async enter(key, limits) {
      const { timeoutMs, onQueued } = limits;
      const began = performance.now();
      const leaveQueue = await queue(key, limits);
      if (leaveQueue === undefined) return undefined;
      const isRecorded = async (): Promise<boolean> => {
        onQueued?.({ depth: 0, holder: ANOTHER_INSTANCE });
        return (await truth.find(key)) !== undefined;
      };
      const left = timeoutMs - (performance.now() - began);
      const release = await locks.acquire(nameOf(key), left, isRecorded).catch((error) => {
        leaveQueue();
        throw error;
      });
      if (release === undefined) {
        leaveQueue();
        return undefined;
      }
      let inside = true;
      return () => {
        if (!inside) return;
        inside = false;
        void release().then(leaveQueue);
      };
    },
    health: redis.health,
  };
}
