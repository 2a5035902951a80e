import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";
import type { Due } from "./deadlines.ts";

/** Finds what has been kept long enough. Erasing is a commit like any other (`Change.erase`); what is erased can be removed. */
export interface Retention {
  /** The definitions that ended submissions, not erased yet, were created with. Costs as much as there are definitions. */
  definitions(): Promise<Hash[]>;
  /** Submissions created with this definition that ended before `before` and are not erased; the longest ended first. */
  endedBefore(before: Instant, where: { definition: Hash; limit: number }): Promise<Due[]>;
  /**
   * Removes at most `limit` submissions that were erased before `before`, each with all its events, and answers how many. Their
   * ids are unknown from then on.
   */
  removeErased(before: Instant, limit: number): Promise<number>;
}
