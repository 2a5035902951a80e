/** What can be counted. Labels are closed sets: never a token, a key, an id or a value. */
export type Measure =
  | { name: "operation"; operation: string; outcome: string; ms: number }
  | { name: "commit"; outcome: "committed" | "key_taken" | "stale" | "too_late" | "down"; ms: number }
  | { name: "group_commit"; changes: number; ms: number }
  | { name: "replay"; operation: string }
  | { name: "lock_wait"; outcome: "entered" | "timed_out"; ms: number }
  | { name: "delivery"; outcome: "taken" | "failed"; ms: number }
  | { name: "webhook"; outcome: "taken" | "failed"; ms: number }
  | { name: "notice"; outcome: "sent" | "failed" | "given_up" }
  | {
      name: "swept";
      what: "expired" | "warned" | "erased" | "removed" | "tokens" | "records" | "handoffs" | "uploads" | "links";
      count: number;
    };

/** Where measurements go. Must not throw and must return at once. */
export interface Instrumentation {
  record(measure: Measure): void;
}

export const silent: Instrumentation = { record: () => {} };
