import type { Instant } from "./instant.ts";

export type JobKind = "deliver" | "escalate" | "collect" | "notify" | "lapse";
export interface NewJob {
  /** Unique in a tenant; a job with the same key replaces the earlier one. */
  key: string;
  kind: JobKind;
  runAt: Instant;
}
