import type { Database } from "better-sqlite3";

const LOOK_EVERY_MS = 10;

export interface ForeignWrites {
  /** To be called before anything remembered is believed. Costs a look every few milliseconds. */
  look(): void;
  /** A batch was sent to the writer's thread. */
  sent(): void;
  cameBack(batch: { commits: boolean }): void;
  close(): void;
}

export interface ForeignWatcher {
  /** Another process has written: what is remembered may be outdated. */
  noticed(): void;
  /** The thread is to look, and to tell with a batch that is sent from now on. */
  askThread(): void;
}

/**
 * Notices within milliseconds that another process has written to the file. This process is the only one that writes submissions;
 * commands beside it write keys.
 *
 * SQLite counts for each connection what others have written. For the connection that reads, our own thread is such an other: a
 * count that moved while the thread wrote may be its doing. The thread's connection can tell, so the thread is asked then; and a
 * look follows soon after the last batch, so that a count that moves later was moved by somebody else.
 */
export function createForeignWrites(db: Database, { noticed, askThread }: ForeignWatcher): ForeignWrites {
  const counter = db.prepare<[], number>("PRAGMA data_version").pluck();
  let seen = counter.get();
  let looked = performance.now();
  let underWay = 0;
  let hasWritten = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    looked = performance.now();
    const count = counter.get();
    const hasMoved = count !== seen;
    const mayBeOurs = hasWritten || underWay > 0;
    seen = count;
    hasWritten = false;
    if (!hasMoved) return;
    if (mayBeOurs) askThread();
    else noticed();
  }

  function lookSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      look();
    }, LOOK_EVERY_MS).unref();
  }

  return {
    look() {
      if (performance.now() - looked > LOOK_EVERY_MS) look();
    },
    sent() {
      underWay += 1;
    },
    cameBack({ commits }) {
      underWay -= 1;
      if (!commits) return;
      hasWritten = true;
      lookSoon();
    },
    close: () => clearTimeout(timer),
  };
}
