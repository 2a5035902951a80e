import { ContractError } from "../../domain/error.ts";
import type { ScopedKey } from "../../ports/idempotency.ts";
import type { MeasuredKey } from "../../ports/instrumentation.ts";
import { ANOTHER_INSTANCE } from "../../ports/key-queue.ts";
import { WriteHeld } from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { keyLocked } from "./keyed.ts";

/**
 * Requests with the same idempotency key run one at a time. Each waits for `keyWaitMs` in total, then gets `locked`.
 */
export interface KeyLock {
  isHeld(): boolean;
  /**
   * Waits until it has the lock, the time is up, or, if the queue is full, for a moment. Check for a record afterwards,
   * then acquire again: throws `locked` once the time is up and there is no record.
   */
  acquire(key: ScopedKey): Promise<void>;
  /** Undefined if another write under the idempotency key blocked the commit: load again. */
  unlessHeld<Result>(commit: () => Promise<Result>): Promise<Result | undefined>;
  /** What the request had to wait for so far, if anything. */
  contention(): Contention | undefined;
  /** Lets the next request in. Call it as soon as there is a record, because nobody has to wait then. */
  release(): void;
}

export interface Contention {
  waitMs: number;
  queueDepth: number;
  lockHolder: string;
}

/** While the queue is full, the pauses between checks for the record grow from this; about this many checks in total. */
const FIRST_LOOK_MS = 10;
const LOOKS = 40;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.ceil(ms)).unref());

export function createKeyLock({ backend, settings, instrumentation: { record } }: Deps): KeyLock {
  const startedAt = performance.now();
  const until = startedAt + settings.keyWaitMs;
  let exit: (() => void) | undefined;
  let isOver = false;
  let nextLookMs = FIRST_LOOK_MS;
  let contention: Contention | undefined;
  let held: { key: MeasuredKey; since: number } | undefined;
  const waitFor = (lockHolder: string, queueDepth: number): void => {
    contention ??= { waitMs: 0, queueDepth, lockHolder };
  };
  const waited = (since: number): void => {
    if (contention !== undefined) contention.waitMs += performance.now() - since;
  };
  return {
    isHeld: () => exit !== undefined,
    async acquire(key) {
      if (isOver) throw keyLocked();
      const began = performance.now();
      const { intakeId, operation, hash } = key;
      const measured = { intakeId, operation, hash };
      let isFull = false;
      exit = await backend.idempotency.enter(key, {
        timeoutMs: Math.max(0, until - began),
        maxWaiters: settings.maxKeyWaiters,
        onFull: () => {
          isFull = true;
        },
        onQueued: ({ depth, holder }) => {
          waitFor(holder, depth);
          record({ name: "lock_attempt", key: measured, queueDepth: depth, holder });
        },
      });
      const left = until - performance.now();
      if (isFull && left > 0) {
        await pause(Math.min(left, nextLookMs));
        nextLookMs = Math.max(FIRST_LOOK_MS, Math.min(2 * nextLookMs, settings.keyWaitMs / LOOKS));
      }
      waited(began);
      isOver = exit === undefined && (!isFull || performance.now() >= until);
      if (exit === undefined && !isOver) return;
      const now = performance.now();
      record({ name: "lock_wait", key: measured, outcome: isOver ? "timed_out" : "entered", ms: now - startedAt });
      if (!isOver) held = { key: measured, since: now };
      if (contention !== undefined) {
        const { waitMs, queueDepth, lockHolder: holder } = contention;
        record({ name: "lock_contention", key: measured, waitMs, queueDepth, holder });
      }
    },
    contention: () => contention,
    async unlessHeld(commit) {
      const began = performance.now();
      try {
        return await commit();
      } catch (error) {
        if (!(error instanceof ContractError) || !(error.cause instanceof WriteHeld)) throw error;
        waitFor(ANOTHER_INSTANCE, 0);
        waited(began);
        if (performance.now() >= until) throw keyLocked(error);
        return undefined;
      }
    },
    release() {
      exit?.();
      exit = undefined;
      if (held !== undefined) record({ name: "lock_held", key: held.key, ms: performance.now() - held.since });
      held = undefined;
    },
  };
}
