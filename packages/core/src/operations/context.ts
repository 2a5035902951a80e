import type { CallFacts } from "../ports/instrumentation.ts";
import type { Watch } from "./alarms/watch.ts";
import type { AuditTrail } from "./audit/audit-trail.ts";
import type { Deps } from "./deps.ts";
import type { UploadUsage } from "./files/upload-usage.ts";
import type { ReplayLog } from "./idempotency/replay-log.ts";
import type { Catalog } from "./read/catalog.ts";

/** What operations share: dependencies, and state kept between calls. */
export interface Context {
  deps: Deps;
  catalog: Catalog;
  auditTrail: AuditTrail;
  watch: Watch;
  uploadUsage: UploadUsage;
  /** When the call began, by `performance.now`. */
  startedAt: number;
  /** What is known about the call so far. */
  facts: CallFacts;
  replayLog: ReplayLog;
  traffic: Traffic;
}

/** When an operation was last called, by `performance.now`, so that sweeps can yield to callers. */
interface Traffic {
  lastCallAt: number;
}
