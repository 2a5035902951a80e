import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Database } from "better-sqlite3";
import { LOG_PAGES } from "./database.ts";

/** Commands and quiet servers never have so many changes, and need no thread. */
const CHANGES_BEFORE_THREAD = 1_000;
/** Pages that many changes write are brought over once a look, so not too often; and a look must not keep the disk for long. */
const CHANGES_A_LOOK = 200;

export type Order = "look" | "close";

export interface Checkpoints {
  committed(changes: number): void;
  close(): Promise<void>;
}

/**
 * Brings pages from the log into the file beside whoever commits. In a large file they are scattered, so writing them takes many
 * times as long as writing the log, and who commits would have to wait for it.
 */
export function createCheckpoints(db: Database): Checkpoints {
  let thread: Worker | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let changes = 0;
  let isLooking = false;

  function start(): Worker {
    const started = new Worker(new URL("./checkpoint-thread.ts", import.meta.url), { workerData: { file: db.name } });
    started.unref();
    started.on("message", () => {
      isLooking = false;
    });
    // Without the thread everything goes on, only slower: it is not asked again, and commits do what it would have done.
    ended = once(started, "exit").catch(() => undefined);
    db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    return started;
  }

  return {
    committed(more) {
      changes += more;
      const enough = thread === undefined ? CHANGES_BEFORE_THREAD : CHANGES_A_LOOK;
      if (changes < enough || isLooking || db.memory) return;
      thread ??= start();
      changes = 0;
      isLooking = true;
      thread.postMessage("look" satisfies Order);
    },
    async close() {
      thread?.ref();
      thread?.postMessage("close" satisfies Order);
      await ended;
    },
  };
}
