import { type Backend, type Instant, type Instrumentation, silent } from "@formbridge/core";
import {
  createBlocks,
  createDeadlines,
  createHandoffs,
  createIncidents,
  createReviewLinks,
  createSecretChecks,
  createWebhooks,
} from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { createCheckpoints } from "./checkpoints.ts";
import { createCommit } from "./commit.ts";
import { openDatabase } from "./database.ts";
import { createEventLog, LAST_POSITION } from "./events.ts";
import { answer } from "./failures.ts";
import { createHealthCheck } from "./health.ts";
import { createIntakes } from "./intakes.ts";
import { createJobs } from "./jobs.ts";
import { createKeys } from "./keys.ts";
import { createLoader } from "./load.ts";
import { migrate } from "./migrate.ts";
import { createPublications } from "./publications.ts";
import { createReadCache } from "./read-cache.ts";
import { createIdempotency } from "./records.ts";
import { createRetention } from "./retention.ts";
import { createSealedRows } from "./sealed-rows.ts";
import { createSizes } from "./sizes.ts";
import { createRunner, dialect } from "./sql.ts";
import { createSubmissions } from "./submissions.ts";
import { createTokenIndex } from "./tokens.ts";
import { createWriter } from "./writer.ts";

/** How event webhooks read the feed. */
const FEED = { end: LAST_POSITION, hasEvents: `w.position < ${LAST_POSITION}` };

interface BackendOptions {
  now: () => Instant;
  instrumentation?: Instrumentation;
}

export interface SqliteOptions extends BackendOptions {
  /** Created when absent. One process serves it (`claimFile`); commands in other processes may read it, or write a row. */
  file: string;
}

/** All ports on one SQLite file, its schema brought up to date first. */
export function openSqliteBackend({ file, ...options }: SqliteOptions): Backend {
  const db = openDatabase(file);
  try {
    migrate(db);
    return createSqliteBackend(db, options);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The same on a database that is already open and up to date. Closing the backend closes it. */
export function createSqliteBackend(db: Database, { now, instrumentation = silent }: BackendOptions): Backend {
  // The writer itself retries a write that finds the file locked, so reads don't wait for it.
  db.pragma("busy_timeout = 0");
  const cache = createReadCache(db);
  const checkpoints = createCheckpoints(db);
  const writer = createWriter(db, {
    now,
    onGroup({ changes, ms }) {
      instrumentation.record({ name: "group_commit", changes, ms });
      checkpoints.committed(changes);
    },
  });
  const load = createLoader(db, now, cache);
  const commit = createCommit(db, load);
  const health = createHealthCheck(db, writer);
  const runner = createRunner(db, { now, writer });
  const leases = ["jobs", "webhooks"].map((table) =>
    db.prepare(`UPDATE ${table} SET leased_until = 0 WHERE leased_until > 0`),
  );
  return {
    store: {
      load: (query) => answer(() => load(query)),
      commit: (change) => writer.write((at) => commit(change, at)),
    },
    tokens: createTokenIndex(db, health, writer),
    idempotency: createIdempotency(db, { now, health }),
    events: createEventLog(db),
    jobs: createJobs(db, now, writer),
    deadlines: createDeadlines(dialect, runner, async () => now()),
    intakes: createIntakes(db, { cache, runner, writer }),
    keys: createKeys(db, { now, cache, runner }),
    submissions: createSubmissions(db),
    handoffs: createHandoffs(dialect, runner),
    webhooks: createWebhooks(dialect, runner, FEED),
    reviewLinks: createReviewLinks(dialect, runner),
    retention: createRetention(db, writer),
    publications: createPublications(db, { now, writer }),
    releaseLeases: () =>
      writer.write(() => {
        for (const release of leases) release.run();
      }),
    incidents: createIncidents(dialect, runner),
    blocks: createBlocks(dialect, runner),
    secretChecks: createSecretChecks(dialect, runner),
    sealedRows: createSealedRows(db, writer),
    ...createSizes(db),
    close: async () => {
      await writer.close();
      await checkpoints.close();
      db.close();
    },
  };
}
