import type { AlarmWindows } from "./alarm-windows.ts";
import type { Deadlines } from "./deadlines.ts";
import type { EventLog } from "./events.ts";
import type { Handoffs } from "./handoffs.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Blocks, Incidents } from "./incidents.ts";
import type { Intakes } from "./intakes.ts";
import type { Jobs } from "./jobs.ts";
import type { Keys } from "./keys.ts";
import type { Publications } from "./publications.ts";
import type { Retention } from "./retention.ts";
import type { ReviewLinks } from "./review-links.ts";
import type { SealedRows } from "./sealed-rows.ts";
import type { SecretChecks } from "./secret-checks.ts";
import type { StoreSizes } from "./sizes.ts";
import type { Store } from "./store.ts";
import type { Submissions } from "./submissions.ts";
import type { TokenIndex } from "./tokens.ts";
import type { Webhooks } from "./webhooks.ts";

/** Every port that one database implements. A write through one is visible through the others. */
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
  publications: Publications;
  incidents: Incidents;
  blocks: Blocks;
  /** Present where several processes share the store: they count alarms together. */
  alarmWindows?: AlarmWindows;
  /**
   * Releases the leases of all jobs and webhooks. Present where one process owns the store: when its workers start, earlier
   * holders no longer exist.
   */
  releaseLeases?(): Promise<void>;
  secretChecks: SecretChecks;
  sealedRows: SealedRows;
  /**
   * Not shared (`isShared`): exact, but takes a scan, so call it once and keep count from then on. Shared: estimated from
   * statistics and a sample, at the same cost for any size.
   */
  sizes(): Promise<StoreSizes>;
  isShared: boolean;
  /** Jobs that wait, due or not; at most `MAX_COUNTED_JOBS` are counted. */
  jobsWaiting(): Promise<number>;
  /** Connections to the database in use now; an embedded one counts as one. */
  connectionsInUse(): number;
  /** Finishes pending commits, then closes the database. Later commits throw `StoreDown`. */
  close(): Promise<void>;
}
