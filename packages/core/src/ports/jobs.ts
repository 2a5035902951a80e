import type { Instant } from "../domain/instant.ts";
import type { JobKind } from "../domain/job.ts";

export interface Job {
  tenant: string;
  submissionId: string;
  key: string;
  kind: JobKind;
  /** Kind and intake. Concurrency is limited per lane. */
  lane: string;
  runAt: Instant;
  /** How often it was claimed, including now. */
  attempt: number;
  leasedUntil: Instant;
}

export interface Claim {
  limit: number;
  leaseMs: number;
  /** How many jobs of one lane the claimer runs at once, and how many it runs now. */
  perLane: number;
  busy: ReadonlyMap<string, number>;
}

/**
 * Work to do later. `Store.commit` adds, replaces and removes jobs (`jobs`, `dropJobs`) in the same transaction as the submission.
 * `settle` ends a job that changes no submission.
 */
export interface Jobs {
  /**
   * Leases due jobs for `leaseMs`, earliest first: at most `limit`, and per lane only as many as it has room for. Nobody else can
   * claim them until the lease ends, also if the worker dies. A full lane doesn't slow down the others, however long its queue.
   */
  claim(claim: Claim): Promise<Job[]>;
  /**
   * Ends the job, or retries it at `retryAt` and keeps counting attempts. False, without effect, if the claimer no longer holds it:
   * another worker claimed it after the lease, or it was replaced or dropped.
   */
  settle(job: Job, outcome: "done" | { retryAt: Instant }): Promise<boolean>;
  /** All jobs, due or not. */
  count(): Promise<number>;
}

/** Topic of `Wakeups`: a commit added a job that is due now. */
export const JOBS_DUE = "jobs";

/** The lane of a job, for all stores. */
export const laneOf = (kind: JobKind, intakeId: string): string => `${kind}:${intakeId}`;
