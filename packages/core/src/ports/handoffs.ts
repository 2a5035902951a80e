import type { Handoff } from "../domain/handoffs/handoff.ts";
import type { Instant } from "../domain/instant.ts";

/** Reads hand-offs. Only `Store.commit` writes them, so their submission's revision guards them. */
export interface Handoffs {
  /** Of one submission of any tenant, newest first. */
  ofSubmission(submissionId: string): Promise<Handoff[]>;
  /** Deletes at most `limit` hand-offs whose `forgetAfter` is before `before`, with their sessions; returns how many. */
  forgetExpired(before: Instant, limit: number): Promise<number>;
}
