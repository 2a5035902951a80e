/**
 * A lock with a lease, which its owner extends while it works:
 *
 *   free ──SET NX PX──▶ held ──extended by its owner──▶ held ──released by its owner──▶ free, waiters notified
 *                         └──owner dead or paused: the lease ends──▶ free
 *
 * An owner that was paused beyond its lease may find another one in its place. That is why the lock only saves work:
 * the commit guards what must happen once.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "./redis.ts";
import { script } from "./script.ts";

/** Returns 0 if the lock is ours now, else how long its owner's lease lasts. A waiter registers to be notified. */
const ACQUIRE = script(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
return math.max(redis.call('PTTL', KEYS[1]), 1)`);

const EXTEND = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`);

const RELEASE = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
if redis.call('DEL', KEYS[2]) == 1 then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return 1`);

export interface LockOptions {
  /** The lease: how long a lock outlives an owner that died. */
  lifeMs: number;
  /** A waiter tries again after this long at the latest, in case the notification gets lost. */
  lookEveryMs?: number;
  /** Called when a lock was lost before its owner released it. */
  onAbandoned?: (ageMs: number) => void;
  /** Calls `work` repeatedly; returns how to stop. */
  repeat?: (work: () => void, everyMs: number) => () => void;
}

export interface Locks {
  /**
   * Undefined if the lock wasn't available in time. The returned function releases it, once, and never throws.
   * `isPointless` is checked before each wait; if true, the wait ends as if the lock had been acquired, without holding
   * it.
   */
  acquire(
    name: string,
    timeoutMs: number,
    isPointless?: () => Promise<boolean>,
  ): Promise<(() => Promise<void>) | undefined>;
  close(): void;
}

const LOOK_EVERY_MS = 500;

export function createLocks(redis: Redis, options: LockOptions): Locks {
  const { lifeMs, lookEveryMs = LOOK_EVERY_MS, repeat = repeatUnheld } = options;
  const channel = redis.channel("released");
  const bells = createBells(redis, channel);
  const keysOf = (name: string): string[] => [redis.key("lock", name), redis.key("waiting", name)];

  async function release(name: string, owner: string): Promise<void> {
    // A lock that can't be released ends with its lease.
    await redis.run(RELEASE, keysOf(name), [owner, channel, name]).catch(() => {});
  }

  function hold(name: string, owner: string): () => Promise<void> {
    const since = performance.now();
    const stop = repeat(async () => {
      const held = await redis.run(EXTEND, keysOf(name).slice(0, 1), [owner, lifeMs]).catch(() => undefined);
      // If it was released meanwhile, it isn't lost.
      if (held !== 0 || isReleased) return;
      stop();
      options.onAbandoned?.(performance.now() - since);
    }, lifeMs / 3);
    let isReleased = false;
    return () => {
      isReleased = true;
      stop();
      return release(name, owner);
    };
  }

  async function attempt(name: string, owner: string): Promise<number> {
    try {
      return Number(await redis.run(ACQUIRE, keysOf(name), [owner, lifeMs]));
    } catch (error) {
      // We may hold it anyway: perhaps only the response was lost.
      void release(name, owner);
      throw error;
    }
  }

  async function acquire(
    name: string,
    timeoutMs: number,
    isPointless = async () => false,
  ): Promise<(() => Promise<void>) | undefined> {
    const until = performance.now() + timeoutMs;
    const owner = randomUUID();
    for (;;) {
      const bell = bells.hang(name);
      try {
        const heldForMs = await attempt(name, owner);
        if (heldForMs === 0) return hold(name, owner);
        if (await isPointless()) return async () => {};
        const left = until - performance.now();
        if (left <= 0) return undefined;
        await Promise.race([bell.rung, pause(Math.min(heldForMs, lookEveryMs, left))]);
      } finally {
        bell.takeDown();
      }
    }
  }

  return { acquire, close: bells.close };
}

interface Bells {
  /** Registered before trying the lock, so that a release in between isn't missed. */
  hang(name: string): { rung: Promise<void>; takeDown(): void };
  close(): void;
}

/** Wakes callers that wait for a name, when a message names it or messages may have been lost. */
function createBells(redis: Redis, channel: string): Bells {
  const bells = new Map<string, Set<() => void>>();
  const ring = (name: string): void => {
    for (const wake of [...(bells.get(name) ?? [])]) wake();
  };
  const close = redis.listen(channel, {
    hear: ring,
    missed: () => {
      for (const name of [...bells.keys()]) ring(name);
    },
  });
  return {
    hang(name) {
      const { promise: rung, resolve } = Promise.withResolvers<void>();
      const others = bells.get(name) ?? new Set();
      bells.set(name, others.add(resolve));
      return {
        rung,
        takeDown() {
          others.delete(resolve);
          if (others.size === 0 && bells.get(name) === others) bells.delete(name);
        },
      };
    },
    close,
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.ceil(ms)).unref());

function repeatUnheld(work: () => void, everyMs: number): () => void {
  const timer = setInterval(work, everyMs).unref();
  return () => clearInterval(timer);
}
