import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";
import type { Due } from "./deadlines.ts";

/** Finds submissions past their retention. Erasing is an ordinary commit (`Change.erase`); erased ones can be removed. */
export interface Retention {
  /** Definitions of ended submissions that aren't erased. Cost grows with the number of definitions, not submissions. */
  definitions(): Promise<Hash[]>;
  /** Submissions created with this definition that ended before `before` and aren't erased, earliest end first. */
  endedBefore(before: Instant, where: { definition: Hash; limit: number }): Promise<Due[]>;
  /**
   * Removes at most `limit` submissions that were erased before `before`, with all their events; returns how many. Their ids are
   * unknown afterwards.
   */
  removeErased(before: Instant, limit: number): Promise<number>;
}
