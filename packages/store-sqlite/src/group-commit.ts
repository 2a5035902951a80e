/**
 * One COMMIT, and so one sync of the disk, for all changes that arrive in the same turn of the event loop.
 *
 *   commit ──▶ queue ──setImmediate──▶ BEGIN IMMEDIATE · change · change · … · COMMIT ──▶ all answers
 *
 * As long as a turn brings more, the group waits for the next turn, a few at the most: a turn costs microseconds, a sync
 * hundreds of them. A change that comes alone waits for one turn.
 *
 * Refusals wait for the COMMIT too: they may tell of a change that was made earlier in their own group.
 */
import { CallRefused, type Change, type Committed, StoreDown } from "@formbridge/core";
import type { Database, Statement } from "better-sqlite3";
import { failedBeforeCommit, failedCommit } from "./failures.ts";

const MAX_GROUP = 256;
const MAX_TURNS = 8;

interface Queued {
  change: Change;
  resolve(committed: Committed): void;
  reject(down: StoreDown): void;
}
type Outcome = Committed | StoreDown;

/** Is told after the COMMIT, before anybody is answered. */
export interface CommitWatcher {
  committed(change: Change): void;
  /** `failed`: the group was not committed. */
  ended(failed: boolean): void;
  measured(changes: number, ms: number): void;
}

export interface GroupCommit {
  commit(change: Change): Promise<Committed>;
  /** Commits what is queued; everything later is refused. */
  close(): void;
}

export function createGroupCommit(
  db: Database,
  apply: (change: Change) => Committed,
  watcher: CommitWatcher,
): GroupCommit {
  const run = createRunner(db, apply);
  const queue: Queued[] = [];
  let closed = false;
  let turns = 0;
  let seen = 0;

  function gather(): void {
    const grows = queue.length > seen && queue.length < MAX_GROUP && turns < MAX_TURNS;
    if (!grows) {
      flush();
      return;
    }
    seen = queue.length;
    turns += 1;
    setImmediate(gather);
  }

  function begin(): void {
    turns = 0;
    seen = 0;
    setImmediate(gather);
  }

  function flush(): void {
    if (queue.length === 0) return;
    const group = queue.splice(0, MAX_GROUP);
    if (queue.length > 0) begin();
    const started = performance.now();
    const outcomes = run(group.map((queued) => queued.change));
    watcher.measured(group.length, performance.now() - started);
    watcher.ended(outcomes.every((outcome) => outcome instanceof StoreDown && !(outcome instanceof CallRefused)));
    group.forEach((queued, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined || outcome instanceof StoreDown) queued.reject(failedBeforeCommit(outcome));
      else {
        if (outcome.kind === "committed") watcher.committed(queued.change);
        queued.resolve(outcome);
      }
    });
  }

  return {
    commit: (change) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new StoreDown("the database is closed", "not_applied"));
        if (queue.length === 0) begin();
        queue.push({ change, resolve, reject });
      }),
    close: () => {
      closed = true;
      while (queue.length > 0) flush();
    },
  };
}

/** Commits a group and answers one outcome per change. Never throws. */
function createRunner(db: Database, apply: (change: Change) => Committed): (group: Change[]) => Outcome[] {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  const savepoint = db.prepare("SAVEPOINT change");
  const release = db.prepare("RELEASE change");
  const undo = db.prepare("ROLLBACK TO change");

  function apart(change: Change): Outcome {
    savepoint.run();
    try {
      const committed = apply(change);
      release.run();
      return committed;
    } catch (error) {
      // Some errors, a full disk among them, make SQLite give up the whole transaction: then nobody's change is there.
      if (!db.inTransaction) throw error;
      undo.run();
      release.run();
      return failedBeforeCommit(error);
    }
  }

  function abandon(): void {
    try {
      if (db.inTransaction) rollback.run();
    } catch {
      // The transaction stays open, so the next BEGIN fails and its group learns that the store is down.
    }
  }

  return (group) => {
    try {
      guarded(begin, failedBeforeCommit);
      const outcomes = group.map(apart);
      guarded(commit, failedCommit);
      return outcomes;
    } catch (error) {
      abandon();
      return group.map(() => failedBeforeCommit(error));
    }
  };
}

function guarded(statement: Statement, failure: (error: unknown) => StoreDown): void {
  try {
    statement.run();
  } catch (error) {
    throw failure(error);
  }
}
