import { JOBS_DUE, type Job, type JobKind, type Jobs, type Operations, type Wakeups } from "@formbridge/core";
import type { Loop } from "./every.ts";

export interface JobOptions {
  operations: Operations;
  jobs: Jobs;
  wakeups: Wakeups;
  /** Jobs that run at the same time, in all and of one lane. */
  atOnce: number;
  perLane: number;
  /** A worker that is silent for longer has lost its job to others. */
  leaseMs: number;
  /** Nobody is woken for a job that becomes due by time: it is looked for. */
  pollMs: number;
  /** What a stop leaves to jobs that run. */
  graceMs: number;
  onError(task: string, error: unknown): void;
}

type Run = (operations: Operations, job: Job, signal: AbortSignal) => Promise<void>;

/** Which operation does a job. */
const RUN: Record<JobKind, Run> = {
  deliver: (operations, job, signal) => operations.deliver(job, signal),
  escalate: (operations, job) => operations.escalate(job),
};

export interface JobLoop extends Loop {
  /** Runs what is due until nothing is, and answers how many jobs that were. */
  drain(): Promise<number>;
}

/**
 * Claims jobs as there is room and runs them side by side. A job's operation commits its outcome itself; one that throws leaves
 * its job leased, and it comes back when the lease is over.
 *
 *   woken, polled or room again ──▶ claim ──▶ run … ──▶ room again
 */
export function startJobs(options: JobOptions): JobLoop {
  const { jobs, wakeups, pollMs, onError } = options;
  const ending = new AbortController();
  const running = new Set<Promise<void>>();
  const busy = new Map<string, number>();
  let claiming: Promise<number> | undefined;
  let isWanted = false;
  let stopped = false;

  function run(job: Job): void {
    busy.set(job.lane, (busy.get(job.lane) ?? 0) + 1);
    const done = RUN[job.kind](options.operations, job, ending.signal)
      .catch((error: unknown) => onError(job.kind, error))
      .then(() => {
        running.delete(done);
        const left = (busy.get(job.lane) ?? 1) - 1;
        if (left === 0) busy.delete(job.lane);
        else busy.set(job.lane, left);
        look();
      });
    running.add(done);
  }

  async function claim(): Promise<number> {
    const { atOnce, perLane, leaseMs } = options;
    const limit = atOnce - running.size;
    if (limit <= 0) return 0;
    const claimed = await jobs.claim({ limit, leaseMs, perLane, busy });
    for (const job of claimed) run(job);
    return claimed.length;
  }

  /** One claim at a time; what asks for one meanwhile gets the next. */
  function look(): void {
    isWanted = true;
    if (claiming !== undefined || stopped) return;
    isWanted = false;
    claiming = claim().catch((error: unknown) => {
      onError("jobs", error);
      return 0;
    });
    void claiming.then(() => {
      claiming = undefined;
      if (isWanted) look();
    });
  }

  const unsubscribe = wakeups.subscribe(JOBS_DUE, look);
  const timer = setInterval(look, pollMs);
  look();
  return {
    async drain() {
      let count = 0;
      while (true) {
        await claiming;
        const claimed = await claim();
        if (claimed === 0 && running.size === 0) return count;
        count += claimed;
        await Promise.all(running);
      }
    },
    async stop() {
      stopped = true;
      unsubscribe();
      clearInterval(timer);
      const grace = setTimeout(() => ending.abort(), options.graceMs);
      await claiming;
      await Promise.all(running);
      clearTimeout(grace);
    },
  };
}
