import { JOBS_DUE, type Job, type JobKind, type Jobs, type Operations, type Wakeups } from "@formbridge/core";
import { type ClaimLoop, startClaimLoop } from "./claim-loop.ts";

export interface JobOptions {
  operations: Operations;
  jobs: Jobs;
  wakeups: Wakeups;
  /** How many jobs run at the same time, in total and per lane. */
  atOnce: number;
  perLane: number;
  /** After this long another worker may claim the job. */
  leaseMs: number;
  /** Becoming due by time sends no notification, so poll this often. */
  pollMs: number;
  /** How long stopping waits for running jobs. */
  graceMs: number;
  onError(task: string, error: unknown): void;
}

type Run = (operations: Operations, job: Job, signal: AbortSignal) => Promise<void>;

/** The operation for each kind of job. */
const RUN: Record<JobKind, Run> = {
  deliver: (operations, job, signal) => operations.deliver(job, signal),
  escalate: (operations, job) => operations.escalate(job),
  lapse: (operations, job) => operations.lapseToken(job),
  collect: (operations, job) => operations.collectUpload(job),
  notify: (operations, job, signal) => operations.notify(job, signal),
};

/**
 * Runs jobs concurrently, from each lane as many as it has room for. A job's operation commits its outcome itself; if
 * it throws, the job is claimed again once the lease ends.
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
