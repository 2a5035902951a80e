import type { Handoff } from "../domain/handoffs/handoff.ts";
import type { Instant } from "../domain/instant.ts";

/** Looks hand-offs up. They are written by `Store.commit` alone, and so are guarded by their submission's revision. */
export interface Handoffs {
  /** Of one submission, whichever tenant it is of, newest first; empty when there is none. */
  ofSubmission(submissionId: string): Promise<Handoff[]>;
  /** Forgets at most `limit` hand-offs whose `forgetAfter` lies before `before`, with their sessions, and answers how many. */
  forgetExpired(before: Instant, limit: number): Promise<number>;
}
