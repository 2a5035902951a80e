import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Database } from "better-sqlite3";
import { LOG_PAGES } from "./database.ts";

/** Commands and idle servers never commit this often, so they start no thread. */
const CHANGES_BEFORE_THREAD = 1_000;
/** Rare enough that a page changed many times is copied once; frequent enough that a checkpoint stays short. */
const CHANGES_A_CHECKPOINT = 200;

export type Order = "checkpoint" | "close";

export interface Checkpoints {
  committed(changes: number): void;
  close(): Promise<void>;
}

/**
 * Checkpoints the write-ahead log on a thread. In a large file the pages are scattered, so writing them takes many times as long as
 * writing the log, and a commit that did it would block the process.
 */
export function createCheckpoints(db: Database): Checkpoints {
  let thread: Worker | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let changes = 0;
  let isRunning = false;

  function start(): Worker {
    const started = new Worker(new URL("./checkpoint-thread.ts", import.meta.url), { workerData: { file: db.name } });
    started.unref();
    started.on("message", () => {
      isRunning = false;
    });
    // A thread that dies isn't restarted: from then on commits do the checkpoints, which is slower.
    ended = once(started, "exit").catch(() => undefined);
    db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    return started;
  }

  return {
    committed(more) {
      changes += more;
      const enough = thread === undefined ? CHANGES_BEFORE_THREAD : CHANGES_A_CHECKPOINT;
      if (changes < enough || isRunning || db.memory) return;
      thread ??= start();
      changes = 0;
      isRunning = true;
      thread.postMessage("checkpoint" satisfies Order);
    },
    async close() {
      thread?.ref();
      thread?.postMessage("close" satisfies Order);
      await ended;
    },
  };
}
