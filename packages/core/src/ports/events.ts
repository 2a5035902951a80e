import type { EventStream, EventType } from "@formbridge/contract";
import type { ChainedEvent } from "../domain/chained-event.ts";
import type { Instant } from "../domain/instant.ts";
import type { FeedPage, FeedPosition } from "../domain/webhooks/feed.ts";

export interface EventFilter {
  streams: readonly EventStream[];
  types?: readonly EventType[];
}

/** Limit of a page, in characters of payload. A page always has room for one event. */
export const MAX_PAGE_SIZE = 4_194_304;

/** Reads the append-only log. Events are written by `Store.commit` alone. */
export interface EventLog {
  /**
   * A submission's events after `afterEventId` (or from the start), in the order they were written. At most `limit`, fewer if
   * they are large (`MAX_PAGE_SIZE`), so only an empty page is the end. Undefined if `afterEventId` is not an event of this
   * submission.
   */
  read(
    where: { tenant: string; submissionId: string; afterEventId?: string } & EventFilter,
    limit: number,
  ): Promise<ChainedEvent[] | undefined>;
  /**
   * Events of all submissions after a position. Never skips an event that commits after one it has returned. Scans a bounded
   * part of the log: the end is reached when a page is empty and its position doesn't move.
   */
  feed(
    where: { tenant: string; intakeIds?: readonly string[]; from?: Instant; until?: Instant } & EventFilter,
    page: { after: FeedPosition; limit: number },
  ): Promise<FeedPage>;
}

/** Topic of `Wakeups`: any submission has new events. */
export const EVENTS_WRITTEN = "events";

/** Topic of `Wakeups`: an intake was registered, changed or retired. */
export const INTAKES_CHANGED = "intakes";

/**
 * Notifies readers of new events of a submission, workers of due jobs (`JOBS_DUE`) and events to send (`EVENTS_WRITTEN`), and
 * bindings of changed intakes (`INTAKES_CHANGED`). Only hints: readers also poll the store, so a lost notification only delays.
 */
export interface Wakeups {
  notify(submissionId: string): void;
  /** Returns the function that unsubscribes. */
  subscribe(submissionId: string, wake: () => void): () => void;
}
