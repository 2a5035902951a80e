import type { Backend } from "@formbridge/core";
import { createBlocks, createIncidents } from "@formbridge/store-sql";
import { createAlarmWindows } from "./alarm-windows.ts";
import { openDatabase, type PostgresOptions } from "./database.ts";
import { createDeadlines } from "./deadlines.ts";
import { createEventLog } from "./events.ts";
import { reasonOf } from "./failures.ts";
import { createHandoffs } from "./handoffs.ts";
import { createHealthCheck, databaseNow } from "./health.ts";
import { createIdempotency } from "./idempotency.ts";
import { createIntakes } from "./intakes.ts";
import { createJobs } from "./jobs.ts";
import { createKeys } from "./keys.ts";
import { migrate } from "./migrate.ts";
import { createPublications } from "./publications.ts";
import { createRetention } from "./retention.ts";
import { createReviewLinks } from "./review-links.ts";
import { createSealedRows } from "./sealed-rows.ts";
import { createSecretChecks } from "./secret-checks.ts";
import { createSizes } from "./sizes.ts";
import { pick, sql } from "./sql.ts";
import { createStore } from "./store.ts";
import { createSubmissions } from "./submissions.ts";
import { createTokenIndex } from "./tokens.ts";
import { createWebhooks } from "./webhooks.ts";

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
    deadlines: createDeadlines(db),
    intakes: createIntakes(db),
    keys: createKeys(db),
    submissions: createSubmissions(db),
    handoffs: createHandoffs(db),
    webhooks: createWebhooks(db),
    reviewLinks: createReviewLinks(db),
    retention: createRetention(db),
    publications: createPublications(db),
    incidents: createIncidents({ sql, pick }, db),
    blocks: createBlocks({ sql, pick }, db),
    alarmWindows: createAlarmWindows(db),
    secretChecks: createSecretChecks(db),
    sealedRows: createSealedRows(db),
    ...createSizes(db),
    close: db.close,
  };
}
