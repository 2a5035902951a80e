/**
 * Group commit: one transaction, and so one sync of the disk, for all writes that arrive in the same turn of the event loop.
 *
 *   write ──▶ queue ──setImmediate──▶ BEGIN IMMEDIATE · (savepoint, write)* · COMMIT ──▶ all results
 *
 * A write that throws is rolled back to its savepoint and fails alone. No result is returned before the COMMIT, not even a refusal: it
 * may depend on an earlier write of the same group. While the disk syncs, the process is blocked and the next requests queue up in their
 * sockets: the slower the disk, the larger the groups.
 */
import { type Instant, StoreDown } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { failedBeforeCommit, failedCommit, isBusy } from "./failures.ts";

const MAX_GROUP = 256;
/** How long a group waits while a command in another process writes. Reads continue meanwhile. */
const BUSY_MS = 1_000;
const RETRY_MS = 5;

export interface Writer {
  /** Runs `work` in the next transaction and passes it the transaction's time. Resolves with its result once that is durable. */
  write<Result>(work: (at: Instant) => Result): Promise<Result>;
  /** The last transaction failed. */
  isFailing(): boolean;
  /** Commits what is queued; refuses everything later. */
  close(): Promise<void>;
}

interface Queued {
  work(at: Instant): unknown;
  resolve(result: unknown): void;
  reject(error: StoreDown): void;
}

interface WriterOptions {
  now: () => Instant;
  onGroup(group: { changes: number; ms: number }): void;
}

export function createWriter(db: Database, { now, onGroup }: WriterOptions): Writer {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  const savepoint = db.prepare("SAVEPOINT change");
  const release = db.prepare("RELEASE change");
  const undo = db.prepare("ROLLBACK TO change");
  const queue: Queued[] = [];
  let isScheduled = false;
  let isClosed = false;
  let isFailing = false;
  let busySince: number | undefined;
  let onDrained = (): void => {};

  function run({ work, resolve, reject }: Queued, at: Instant): () => void {
    savepoint.run();
    try {
      const result = work(at);
      release.run();
      return () => resolve(result);
    } catch (error) {
      // On some errors, a full disk for example, SQLite rolls the whole transaction back.
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      const down = failedBeforeCommit(error);
      return () => reject(down);
    }
  }

  function abandon(): void {
    try {
      if (db.inTransaction) rollback.run();
    } catch {
      // The transaction stays open, so the next BEGIN fails, and its group is rejected as `StoreDown`.
    }
  }

  function commitGroup(group: readonly Queued[]): void {
    const started = performance.now();
    let answers: (() => void)[];
    let failed = failedBeforeCommit;
    try {
      const at = now();
      answers = group.map((queued) => run(queued, at));
      failed = failedCommit;
      commit.run();
      isFailing = false;
    } catch (error) {
      abandon();
      isFailing = true;
      const down = failed(error);
      answers = group.map(
        ({ reject }) =>
          () =>
            reject(down),
      );
    }
    onGroup({ changes: group.length, ms: performance.now() - started });
    for (const answer of answers) answer();
  }

  /** False: another process is writing, try again. */
  function beginGroup(): boolean {
    try {
      begin.run();
      busySince = undefined;
      return true;
    } catch (error) {
      const since = busySince ?? performance.now();
      if (isBusy(error) && performance.now() - since < BUSY_MS) {
        busySince = since;
        return false;
      }
      busySince = undefined;
      isFailing = true;
      const down = failedBeforeCommit(error);
      for (const { reject } of queue.splice(0, MAX_GROUP)) reject(down);
      return true;
    }
  }

  function flush(): void {
    isScheduled = false;
    const isOpen = beginGroup();
    if (isOpen && db.inTransaction) commitGroup(queue.splice(0, MAX_GROUP));
    if (queue.length > 0) schedule(isOpen ? undefined : RETRY_MS);
    else onDrained();
  }

  function schedule(delayMs?: number): void {
    if (isScheduled) return;
    isScheduled = true;
    if (delayMs === undefined) setImmediate(flush);
    else setTimeout(flush, delayMs);
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new StoreDown("the database is closed", "not_applied"));
        queue.push({ work, resolve: resolve as Queued["resolve"], reject });
        schedule();
      }),
    isFailing: () => isFailing,
    async close() {
      isClosed = true;
      if (queue.length === 0) return;
      await new Promise<void>((resolve) => {
        onDrained = resolve;
        schedule();
      });
    },
  };
}
