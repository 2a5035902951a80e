import { Worker } from "node:worker_threads";
import type { Database } from "better-sqlite3";

/** How many changes may wait in the log before they are copied into the file: some megabytes. */
const EVERY = 1_000;
/** When the log could not be emptied for this long, because writers never paused, the writer lends a hand. */
const RESET_EVERY = 8;

export interface Checkpoints {
  /** Tells of changes that were committed just now. */
  committed(changes: number): void;
  close(): Promise<void>;
}

/**
 * Keeps the write-ahead log short. SQLite would do this inside some commit, which then takes many times as long as the others;
 * here a thread of its own does it. It starts when there is something to do, so that a short-lived process has none.
 */
export function createCheckpoints(db: Database): Checkpoints {
  db.pragma("wal_autocheckpoint = 0");
  const reset = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  let worker: Worker | undefined;
  let waiting = 0;
  let busy = false;
  let rounds = 0;

  function start(): Worker {
    const thread = new Worker(new URL("./checkpoint-thread.ts", import.meta.url), { workerData: { file: db.name } });
    thread.unref();
    thread.on("message", () => {
      busy = false;
      rounds += 1;
      // What came while the thread was copying is little: with it copied too, the next commit starts the log anew.
      if (rounds % RESET_EVERY === 0 && db.open && !db.inTransaction) reset.get();
    });
    thread.on("error", () => {
      // Without the thread, commits do it themselves.
      worker = undefined;
      if (db.open) db.pragma("wal_autocheckpoint = 1000");
    });
    return thread;
  }

  return {
    committed(changes) {
      waiting += changes;
      if (waiting < EVERY || busy) return;
      waiting = 0;
      busy = true;
      worker ??= start();
      worker.postMessage("checkpoint");
    },
    async close() {
      const thread = worker;
      worker = undefined;
      if (thread === undefined) return;
      // It must not hold the process up, but a close that was asked for is waited for.
      thread.ref();
      const gone = new Promise((resolve) => thread.once("exit", resolve));
      thread.postMessage("close");
      await gone;
    },
  };
}
