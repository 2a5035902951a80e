import type { Instant } from "../domain/instant.ts";

/** Clean-up of review links. `Store.commit` writes them, `Store.load` finds them. */
export interface ReviewLinks {
  /** Deletes at most `limit` links whose `forgetAfter` is before `before`; returns how many. */
  forgetExpired(before: Instant, limit: number): Promise<number>;
}
