import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";

/**
 * How the sweep shares the store. Everything in a batch is in flight at once, so the store commits it as a group: one sync for
 * many submissions. While callers are active, batches are small and half of the time is left to them.
 */
export interface Pace {
  /** The size of a batch while there are no calls. */
  atOnce: number;
  isShared(): boolean;
  /** Once aborted, no further batch starts. */
  signal: AbortSignal | undefined;
}

const SHARED_BATCH = 16;

export interface Batches {
  /** `work` returns whether there was something to do. */
  run<Item>(items: readonly Item[], work: (item: Item) => Promise<boolean>): Promise<Ran>;
  /** Forgets up to `most`, and returns how many. */
  forget(most: number, forget: (limit: number) => Promise<number>): Promise<number>;
}

export interface Ran {
  done: number;
  failures: unknown[];
}

export function createBatches({ atOnce, isShared, signal }: Pace): Batches {
  /** `batch` handles as many items as requested, and returns whether more are left. */
  async function repeat(batch: (size: number) => Promise<boolean>): Promise<void> {
    while (signal?.aborted !== true) {
      const shared = isShared();
      const began = performance.now();
      if (!(await batch(shared ? Math.min(SHARED_BATCH, atOnce) : atOnce))) return;
      await (shared ? pause(performance.now() - began) : turn());
    }
  }

  return {
    async run(items, work) {
      const ran: Ran = { done: 0, failures: [] };
      let next = 0;
      await repeat(async (size) => {
        const settled = await Promise.allSettled(items.slice(next, next + size).map(work));
        next += settled.length;
        for (const result of settled) {
          if (result.status === "rejected") ran.failures.push(result.reason);
          else if (result.value) ran.done += 1;
        }
        return next < items.length;
      });
      return ran;
    },
    async forget(most, forget) {
      let forgotten = 0;
      await repeat(async (size) => {
        const limit = Math.min(size, most - forgotten);
        const some = await forget(limit);
        forgotten += some;
        return some === limit && forgotten < most;
      });
      return forgotten;
    },
  };
}
