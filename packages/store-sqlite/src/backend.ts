import { type Backend, type Instant, type Instrumentation, silent } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { createApplyChange } from "./apply-change.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { openDatabase } from "./database.ts";
import { createDeadlines } from "./deadlines.ts";
import { createEventLog } from "./events.ts";
import { answer } from "./failures.ts";
import { createForeignWrites } from "./foreign-writes.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createHandoffs } from "./handoffs.ts";
import { createHealthCheck } from "./health.ts";
import { createIntakes } from "./intakes.ts";
import { createJobs } from "./jobs.ts";
import { createKeys } from "./keys.ts";
import { createLoader } from "./load.ts";
import { migrate } from "./migrate.ts";
import { createReadCache } from "./read-cache.ts";
import { createIdempotency, createRecords } from "./records.ts";
import { createRetention } from "./retention.ts";
import { createReviewLinks } from "./review-links.ts";
import { createRowCache } from "./row-cache.ts";
import { createSubmissions } from "./submissions.ts";
import { createTokenIndex } from "./tokens.ts";
import { createWebhooks } from "./webhooks.ts";

export interface SqliteOptions {
  /** Created when absent. Other processes may read it while it is open. */
  file: string;
  now: () => Instant;
  instrumentation?: Instrumentation;
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

/** The same on a database that is open and up to date; closing the backend closes it. */
export function createSqliteBackend(db: Database, options: Omit<SqliteOptions, "file">): Backend {
  const { now, instrumentation = silent } = options;
  let lastWriteFailed = false;
  const health = createHealthCheck(db, () => lastWriteFailed);
  const records = createRecords(db);
  const cache = createReadCache(createForeignWrites(db));
  const rows = createRowCache(createForeignWrites(db));
  const load = createLoader(db, { records, now, cache, rows });
  const loadInCommit = createLoader(db, { records, now, cache });
  const apply = createApplyChange(db, { records, load: loadInCommit, now });
  const checkpoints = createCheckpoints(db);
  const group = createGroupCommit(db, apply, {
    committed: rows.committed,
    ended: (failed) => {
      lastWriteFailed = failed;
    },
    measured: (changes, ms) => {
      instrumentation.record({ name: "group_commit", changes, ms });
      checkpoints.committed(changes);
    },
  });
  return {
    store: { load: (query) => answer(() => load(query)), commit: group.commit },
    tokens: createTokenIndex(db, health),
    idempotency: createIdempotency(db, { records, now, health }),
    events: createEventLog(db),
    jobs: createJobs(db, now),
    deadlines: createDeadlines(db, now),
    intakes: createIntakes(db, now, cache),
    keys: createKeys(db, now, cache),
    submissions: createSubmissions(db),
    handoffs: createHandoffs(db),
    webhooks: createWebhooks(db, now),
    reviewLinks: createReviewLinks(db),
    retention: createRetention(db, rows),
    close: async () => {
      group.close();
      await checkpoints.close();
      db.close();
    },
  };
}
