import type { Instant } from "../domain/instant.ts";
import type { JobKind } from "./store.ts";

export interface Job {
  tenant: string;
  submissionId: string;
  key: string;
  kind: JobKind;
  runAt: Instant;
  /** How many times it was claimed, this one included. */
  attempt: number;
}

/** Work to do later. Jobs are added, replaced and ended by `Store.commit` (`jobs`, `dropJobs`): only one outcome can commit. */
export interface Jobs {
  /**
   * Takes at most `limit` due jobs, earliest first, for `leaseMs`; nobody else is given them until the lease is over. A worker
   * that dies gives them back by time alone.
   */
  claim(limit: number, leaseMs: number): Promise<Job[]>;
  /** How many wait, due or not. */
  count(): Promise<number>;
}
