import type { SubmissionState } from "@formbridge/contract";
import type { Instant } from "../domain/instant.ts";
import type { SubmissionRow } from "./store.ts";

export interface SubmissionFilter {
  tenant: string;
  intakeIds?: readonly string[];
  states?: readonly SubmissionState[];
  /** For `states`: an editable submission that expires before this counts as `expired`, even if that isn't committed yet. */
  expiredBefore?: Instant;
  createdById?: string;
  /** Inclusive, on creation. */
  from?: Instant;
  /** Exclusive, on creation. */
  until?: Instant;
}

/** Newest first, before an id; or, with `after`, oldest first after an id (empty: from the start). */
export type SubmissionPage = { limit: number; before?: string; after?: never } | { limit: number; after: string };

/** Lists submissions by id. The position is an id, so late pages cost no more than the first. */
export interface Submissions {
  list(filter: SubmissionFilter, page: SubmissionPage): Promise<SubmissionRow[]>;
  /** The number of matches, counted up to `atMost`. */
  count(filter: SubmissionFilter, atMost: number): Promise<number>;
  /** Every tenant that has submissions, in order. */
  tenants(): Promise<string[]>;
}
