import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";

/** What a step is to take, while nobody else is at work and while somebody is: whoever calls meanwhile waits for one. */
const ALONE_MS = 10;
const SHARED_MS = 3;
/** A commit waits for the disk, whatever is in it: with less than this, a step would do little else. */
const LEAST = 8;

export interface Pace {
  /** The most that one step does. */
  atOnce: number;
  /** Is somebody else at work? Then every step is followed by a rest as long as it took. */
  isShared(): boolean;
  /** Aborted: no step is begun any more. */
  signal: AbortSignal | undefined;
  clock?: { now(): number; rest(ms: number): Promise<unknown> };
}

const REAL = { now: () => performance.now(), rest: (ms: number) => (ms === 0 ? turn() : pause(ms)) };

export interface Steps {
  /** `work` answers whether there was something to do. What was not begun is neither done nor failed. */
  run<Item>(items: readonly Item[], work: (item: Item) => Promise<boolean>): Promise<Ran>;
  /** Forgets up to `most`, and answers how many. */
  forget(most: number, forget: (limit: number) => Promise<number>): Promise<number>;
}

export interface Ran {
  done: number;
  failures: unknown[];
}

/** As many at once as fit in a step's time: the disk is waited for once a step, and others are let in after each. */
export function createSteps({ atOnce, isShared, signal, clock = REAL }: Pace): Steps {
  /** `step` does as many as it is told, and answers whether more are left. */
  async function repeat(step: (size: number) => Promise<boolean>): Promise<void> {
    let size = Math.min(LEAST, atOnce);
    while (signal?.aborted !== true) {
      const began = clock.now();
      if (!(await step(size))) return;
      const took = clock.now() - began;
      const isAlone = !isShared();
      size = Math.min(nextSize(size, took, isAlone ? ALONE_MS : SHARED_MS), atOnce);
      await clock.rest(isAlone ? 0 : took);
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

/** Grows to twice its size at the most, and falls at once to what there is time for. */
const nextSize = (size: number, took: number, wanted: number): number =>
  Math.max(LEAST, Math.floor(size * Math.min(2, wanted / took)));
