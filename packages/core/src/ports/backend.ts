import type { Deadlines } from "./deadlines.ts";
import type { EventLog } from "./events.ts";
import type { Handoffs } from "./handoffs.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Intakes } from "./intakes.ts";
import type { Jobs } from "./jobs.ts";
import type { Keys } from "./keys.ts";
import type { Retention } from "./retention.ts";
import type { ReviewLinks } from "./review-links.ts";
import type { Store } from "./store.ts";
import type { Submissions } from "./submissions.ts";
import type { TokenIndex } from "./tokens.ts";
import type { Webhooks } from "./webhooks.ts";

/** Every port that one database serves. What is written through one of them, the others see. */
export interface Backend {
  store: Store;
  tokens: TokenIndex;
  idempotency: Idempotency;
  events: EventLog;
  jobs: Jobs;
  deadlines: Deadlines;
  intakes: Intakes;
  keys: Keys;
  submissions: Submissions;
  handoffs: Handoffs;
  webhooks: Webhooks;
  reviewLinks: ReviewLinks;
  retention: Retention;
  /** Finishes the commits that were handed in, then lets go of the database. Commits after it throw `StoreDown`. */
  close(): Promise<void>;
}
