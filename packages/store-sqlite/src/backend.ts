import { availableParallelism } from "node:os";
import { type Backend, type Change, type Instant, type Instrumentation, silent } from "@formbridge/core";
import type { Database } from "better-sqlite3";
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
import { createIdempotency } from "./records.ts";
import { createRetention } from "./retention.ts";
import { createReviewLinks } from "./review-links.ts";
import { createRowCache } from "./row-cache.ts";
import { createSubmissions } from "./submissions.ts";
import { createTokenIndex } from "./tokens.ts";
import { createWebhooks } from "./webhooks.ts";
import { createRecordFinder } from "./writer/records.ts";
import { createWriteBatch } from "./writer/write-batch.ts";
import { createWriterThread, type WriterThread } from "./writer-thread.ts";

export interface SqliteOptions {
  /** Created when absent. Other processes may read it while it is open. */
  file: string;
  now: () => Instant;
  instrumentation?: Instrumentation;
  /** `thread`: once there is much to write, a thread of its own writes it. Otherwise the caller's does. */
  writer?: "caller" | "thread";
}

/** All ports on one SQLite file, its schema brought up to date first. */
export function openSqliteBackend({ file, writer = "caller", ...options }: SqliteOptions): Backend {
  const db = openDatabase(file);
  try {
    migrate(db);
    // A thread on the only core would take from the main thread what it saves it.
    const hasThread = writer === "thread" && !db.memory && availableParallelism() > 1;
    return createSqliteBackend(db, { ...options, thread: hasThread ? createWriterThread(file) : undefined });
  } catch (error) {
    db.close();
    throw error;
  }
}

interface OpenOptions {
  now: () => Instant;
  instrumentation?: Instrumentation;
  thread?: WriterThread | undefined;
}

/** The same on a database that is open and up to date; closing the backend closes it. */
export function createSqliteBackend(db: Database, options: OpenOptions): Backend {
  const { now, instrumentation = silent, thread } = options;
  let lastWriteFailed = false;
  const forgetAll = (): void => {
    cache.forget();
    rows.forgetAll();
  };
  const foreignWrites = createForeignWrites(db, { noticed: forgetAll, askThread: () => group.look() });
  const cache = createReadCache(foreignWrites.look);
  const rows = createRowCache(foreignWrites.look);
  const findRecord = createRecordFinder(db);
  const load = createLoader(db, { findRecord, now, cache, rows });
  const loadAnew = createLoader(db, { findRecord, now, cache });
  const checkpoints = createCheckpoints(db);
  const group = createGroupCommit({
    now,
    write: createWriteBatch(db),
    thread,
    reload: ({ row, tenant, key }: Change) =>
      loadAnew({ by: { id: row.submission.submissionId, tenant }, ...(key && { key: key.ref }) }),
    watcher: {
      sent: ({ row }) => rows.sent(row.submission.submissionId),
      settled: rows.settled,
      ended({ changes, ms, failed }) {
        lastWriteFailed = failed;
        instrumentation.record({ name: "group_commit", changes, ms });
        checkpoints.committed(changes);
      },
      sentToThread: foreignWrites.sent,
      cameBack: foreignWrites.cameBack,
      foreignWrites: forgetAll,
    },
  });
  const { call } = group;
  const health = createHealthCheck(db, { isFailing: () => lastWriteFailed, write: () => call("probe") });
  return {
    store: { load: (query) => answer(() => load(query)), commit: group.commit },
    tokens: createTokenIndex(db, health, call),
    idempotency: createIdempotency(db, { find: findRecord, now, health, call }),
    events: createEventLog(db),
    jobs: createJobs(db, now, call),
    deadlines: createDeadlines(db, now),
    intakes: createIntakes(db, cache, call),
    keys: createKeys(db, { now, cache, call }),
    submissions: createSubmissions(db),
    handoffs: createHandoffs(db, call),
    webhooks: createWebhooks(db, now, call),
    reviewLinks: createReviewLinks(call),
    retention: createRetention(db, rows, call),
    close: async () => {
      await group.close();
      foreignWrites.close();
      await checkpoints.close();
      db.close();
    },
  };
}
