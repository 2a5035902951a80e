import type { Handoff } from "../domain/handoffs/handoff.ts";
import type { Instant } from "../domain/instant.ts";

/** Reads hand-offs. Only `Store.commit` writes them, so their submission's revision guards them. */
export interface Handoffs {
  /** Of one submission of any tenant, newest first. */
  ofSubmission(submissionId: string): Promise<Handoff[]>;
  /** Of a tenant, newest first (by id), before an id. The position is an id, so late pages cost no more than the first. */
  list(where: { tenant: string; before?: string }, limit: number): Promise<Handoff[]>;
  /** The number that a whole list of the tenant has, counted up to `atMost`. */
  count(where: { tenant: string }, atMost: number): Promise<number>;
  /** Deletes at most `limit` hand-offs whose `forgetAfter` is before `before`, with their sessions; returns how many. */
  forgetExpired(before: Instant, limit: number): Promise<number>;
}
