import { JOBS_DUE, type Job, type JobKind, type Jobs, type Operations, type Wakeups } from "@formbridge/core";
import { type ClaimLoop, startClaimLoop } from "./claim-loop.ts";

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
  collect: (operations, job) => operations.collectUpload(job),
  notify: (operations, job, signal) => operations.notify(job, signal),
};

/**
 * Runs jobs side by side, from each lane as many as it has room for. A job's operation commits its outcome itself; one that
 * throws leaves its job leased, and it comes back when the lease is over.
 */
export function startJobs(options: JobOptions): ClaimLoop {
  const { jobs, operations, leaseMs, perLane, onError } = options;
  const busy = new Map<string, number>();
  const count = (lane: string, by: number): void => {
    const now = (busy.get(lane) ?? 0) + by;
    if (now === 0) busy.delete(lane);
    else busy.set(lane, now);
  };
  return startClaimLoop<Job>({
    ...options,
    name: "jobs",
    topic: JOBS_DUE,
    gatherMs: 0,
    claim: (limit) => jobs.claim({ limit, leaseMs, perLane, busy }),
    async run(job, signal) {
      count(job.lane, 1);
      await RUN[job.kind](operations, job, signal).catch((error: unknown) => onError(job.kind, error));
      count(job.lane, -1);
      return true;
    },
  });
}
