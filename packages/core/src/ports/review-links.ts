import type { Instant } from "../domain/instant.ts";

/** Cleans review links up. They are written by `Store.commit` alone, and found by `Store.load`. */
export interface ReviewLinks {
  /** Forgets at most `limit` links whose `forgetAfter` lies before `before`, and answers how many. */
  forgetExpired(before: Instant, limit: number): Promise<number>;
}
