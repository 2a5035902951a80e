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

/** Newest first, on from before an id; or, with `after`, oldest first, on from after an id, from the start when that is empty. */
export type SubmissionPage = { limit: number; before?: string; after?: never } | { limit: number; after: string };

/** Lists submissions by id, newest or oldest first. The position is a submission id, so a late page costs what the first one costs. */
export interface Submissions {
  list(filter: SubmissionFilter, page: SubmissionPage): Promise<SubmissionRow[]>;
}
