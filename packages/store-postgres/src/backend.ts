import type { Backend } from "@formbridge/core";
import {
  createBlocks,
  createDeadlines,
  createHandoffs,
  createIncidents,
  createReviewLinks,
  createSecretChecks,
  createWebhooks,
} from "@formbridge/store-sql";
import { createAlarmWindows } from "./alarm-windows.ts";
import { openDatabase, type PostgresOptions } from "./database.ts";
import { createEventLog } from "./events.ts";
import { reasonOf } from "./failures.ts";
import { createHealthCheck, databaseNow } from "./health.ts";
import { createIdempotency } from "./idempotency.ts";
import { createIntakes } from "./intakes.ts";
import { createJobs } from "./jobs.ts";
import { createKeys } from "./keys.ts";
import { migrate } from "./migrate.ts";
import { createPublications } from "./publications.ts";
import { createRetention } from "./retention.ts";
import { createSealedRows } from "./sealed-rows.ts";
import { createSizes } from "./sizes.ts";
import { dialect } from "./sql.ts";
import { createStore } from "./store.ts";
import { createSubmissions } from "./submissions.ts";
import { createTokenIndex } from "./tokens.ts";

/** How event webhooks read the feed. */
const FEED = {
  end: "formbridge.feed_horizon()",
  hasEvents: "EXISTS (SELECT 1 FROM formbridge.events AS e WHERE e.tenant = w.tenant AND e.position > w.position)",
};

/** All ports on one PostgreSQL database, its schema brought up to date first. Many processes may have it open. */
export async function openPostgresBackend(options: PostgresOptions): Promise<Backend> {
  await migrate(options);
  const db = openDatabase(options);
  // A pooler is first used here: the migration went around it.
  await databaseNow(db).catch(async (error: unknown) => {
    await db.close();
    throw new Error(`PostgreSQL can't be used: ${reasonOf(error)}`, { cause: error });
  });
  const health = createHealthCheck(db);
  return {
    store: createStore(db),
    tokens: createTokenIndex(db, health),
    idempotency: createIdempotency(db, health),
    events: createEventLog(db),
    jobs: createJobs(db),
    deadlines: createDeadlines(dialect, db, () => databaseNow(db)),
    intakes: createIntakes(db),
    keys: createKeys(db),
    submissions: createSubmissions(db),
    handoffs: createHandoffs(dialect, db),
    webhooks: createWebhooks(dialect, db, FEED),
    reviewLinks: createReviewLinks(dialect, db),
    retention: createRetention(db),
    publications: createPublications(db),
    incidents: createIncidents(dialect, db),
    blocks: createBlocks(dialect, db),
    alarmWindows: createAlarmWindows(db),
    secretChecks: createSecretChecks(dialect, db),
    sealedRows: createSealedRows(db),
    ...createSizes(db),
    close: db.close,
  };
}
