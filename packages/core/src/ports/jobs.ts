import type { Instant } from "../domain/instant.ts";
import type { JobKind } from "./store.ts";

export interface Job {
  tenant: string;
  submissionId: string;
  key: string;
  kind: JobKind;
  /** Jobs of one kind of one intake go the same way, and wait for each other there. */
  lane: string;
  runAt: Instant;
  /** How many times it was claimed, this one included. */
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
 * Work to do later. Jobs are added, replaced and ended by `Store.commit` (`jobs`, `dropJobs`), so that only one outcome of a
 * change to a submission can commit. A job that changes no submission is ended by `settle`.
 */
export interface Jobs {
  /**
   * Takes due jobs for `leaseMs`, at most `limit` and from each lane only as many as it has room for, earliest first; nobody else
   * is given them until the lease is over. A worker that dies gives them back by time alone. A lane that is full, however long
   * its line, costs the others nothing.
   */
  claim(claim: Claim): Promise<Job[]>;
  /**
   * Ends the job, or has it wait until `retryAt`, counting its attempts on. Answers false, and changes nothing, when it is no
   * longer the claimer's: its lease ran out and another has it, or it was replaced or dropped.
   */
  settle(job: Job, outcome: "done" | { retryAt: Instant }): Promise<boolean>;
  /** How many wait, due or not. */
  count(): Promise<number>;
}

/** What is woken (`Wakeups`) when a commit has left work that is due at once. */
export const JOBS_DUE = "jobs";

/** The lane of a job; every store uses this one. */
export const laneOf = (kind: JobKind, intakeId: string): string => `${kind}:${intakeId}`;
