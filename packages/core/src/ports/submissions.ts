import type { SubmissionState } from "@formbridge/contract";
import type { Instant } from "../domain/instant.ts";
import type { SubmissionRow } from "./store.ts";

export interface SubmissionFilter {
  tenant: string;
  intakeIds?: readonly string[];
  states?: readonly SubmissionState[];
  createdById?: string;
  /** Inclusive, on creation. */
  from?: Instant;
  /** Exclusive, on creation. */
  until?: Instant;
}

/** Lists submissions by id, newest first. The position is a submission id, so a late page costs what the first one costs. */
export interface Submissions {
  list(filter: SubmissionFilter, page: { before?: string; limit: number }): Promise<SubmissionRow[]>;
}
