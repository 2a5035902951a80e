import type { EventStream, EventType } from "@formbridge/contract";
import type { AuditHeads } from "../domain/chain.ts";
import type { Instant } from "../domain/instant.ts";
import type { ChainedEvent } from "./store.ts";

export interface EventFilter {
  streams: readonly EventStream[];
  types?: readonly EventType[];
}

/** A place in the feed of all events of a tenant: grows in the order of commits. */
export type FeedPosition = number;
export interface FeedEvent {
  position: FeedPosition;
  intakeId: string;
  event: ChainedEvent;
}

/** A page of the feed, and how far it looked: where the next one starts, also when nothing on the way was wanted. */
export interface FeedPage {
  events: FeedEvent[];
  position: FeedPosition;
}

/** What a page holds at most, in characters of payload; one event always fits. */
export const MAX_PAGE_SIZE = 4_194_304;

/** Reads the append-only log. Events are written by `Store.commit` alone. */
export interface EventLog {
  /**
   * A submission's events after `afterEventId` (from the start without it), in order of writing; at most `limit`, and fewer when
   * they are large (`MAX_PAGE_SIZE`): only an empty answer is the end.
   * Answers undefined when `afterEventId` is not an event of this submission.
   */
  read(
    where: { tenant: string; submissionId: string; afterEventId?: string } & EventFilter,
    limit: number,
  ): Promise<ChainedEvent[] | undefined>;
  /** Where the streams end that the store chains; undefined when there is no such submission. */
  auditHeads(where: { tenant: string; submissionId: string }): Promise<AuditHeads | undefined>;
  /**
   * Events across submissions after a position. Never skips an event that commits later than one it has shown. Looks at a
   * bounded part of the log: the end is reached when a page is empty and its position does not move.
   */
  feed(
    where: { tenant: string; intakeIds?: readonly string[]; from?: Instant; until?: Instant } & EventFilter,
    page: { after: FeedPosition; limit: number },
  ): Promise<FeedPage>;
}

/** What is woken (`Wakeups`) when any submission has new events. */
export const EVENTS_WRITTEN = "events";

/** What is woken (`Wakeups`) when an intake was registered, changed or retired. */
export const INTAKES_CHANGED = "intakes";

/**
 * Tells waiting readers that a submission has new events, and workers that jobs are due (`JOBS_DUE`) or events are to be sent
 * (`EVENTS_WRITTEN`), and bindings that intakes have changed (`INTAKES_CHANGED`). A hint: the store is the truth, and a lost hint only delays.
 */
export interface Wakeups {
  notify(submissionId: string): void;
  /** Answers how to stop listening. */
  subscribe(submissionId: string, wake: () => void): () => void;
}
