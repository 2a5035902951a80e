import type { Instant } from "../domain/instant.ts";

/** Something seen in a window. */
export interface Mark {
  window: string;
  member: string;
  at: Instant;
  windowMs: number;
  /** Nobody needs a larger count, so a window may forget its oldest members beyond this many. */
  atMost: number;
}

/** Sliding windows of alarms, counted by all instances together. Counts are exact up to `atMost`. Nothing is durable. */
export interface AlarmWindows {
  /**
   * Adds each mark to its window, then returns for each mark how many different members its window has, this one included, that
   * were seen less than `windowMs` before it: up to `atMost`. A member that is added again counts from then on. Of two concurrent
   * calls, at least one counts the marks of both. Memory is bounded: members are forgotten when their window has passed.
   */
  add(marks: readonly Mark[]): Promise<number[]>;
}
