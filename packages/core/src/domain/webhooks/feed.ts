import type { ChainedEvent } from "../chained-event.ts";

/** A position in a tenant's feed: grows in commit order. */
export type FeedPosition = number;
export interface FeedEvent {
  position: FeedPosition;
  intakeId: string;
  event: ChainedEvent;
}

/** A page of the feed and how far it was read: where the next one starts, even if nothing on it was wanted. */
export interface FeedPage {
  events: FeedEvent[];
  position: FeedPosition;
}
