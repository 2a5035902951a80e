/**
 * Whoever writes, in the caller's thread or in one of its own, writes by this: a batch is one transaction, and so one sync.
 *
 *   BEGIN IMMEDIATE · savepoint, change or call · savepoint, … · COMMIT ──▶ one outcome each
 */
import type { Instant } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { type COMMITTED, createApplyChange, type Refusal } from "./apply-change.ts";
import { type CallName, createCalls } from "./calls.ts";
import { type Failure, failedBeforeCommit, failedCommit } from "./failures.ts";
import { decodeChange, type Flat } from "./flat-change.ts";

export interface Call {
  name: CallName;
  args: readonly unknown[];
}
export type Order = Flat | Call;
export interface Batch {
  /** The clock of whoever sends it. */
  at: Instant;
  orders: Order[];
}

export type Outcome = typeof COMMITTED | Refusal | Failure | { kind: "answered"; value: unknown };
export interface BatchAnswer {
  outcomes: Outcome[];
  ms: number;
  /** Another process has written to the file since the batch before; true of the first one. */
  foreign: boolean;
}
export type WriteBatch = (batch: Batch) => BatchAnswer;

/** The answer never comes before the COMMIT, and is never thrown. An empty batch only looks who else has written. */
export function createWriteBatch(db: Database): WriteBatch {
  const commitAll = createCommitAll(db);
  const hasForeignWrites = createForeignLook(db);
  return (batch) => {
    const started = performance.now();
    const foreign = hasForeignWrites();
    const outcomes = batch.orders.length === 0 ? [] : commitAll(batch);
    return { outcomes, ms: performance.now() - started, foreign };
  };
}

function createCommitAll(db: Database): (batch: Batch) => Outcome[] {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  const savepoint = db.prepare("SAVEPOINT change");
  const release = db.prepare("RELEASE change");
  const undo = db.prepare("ROLLBACK TO change");
  const apply = createApplyChange(db);
  const calls = createCalls(db);

  function carryOut(order: Order, at: Instant): Outcome {
    if (Array.isArray(order)) return apply(decodeChange(order), at);
    const call = calls[order.name] as (at: Instant, ...args: readonly unknown[]) => unknown;
    return { kind: "answered", value: call(at, ...order.args) };
  }

  function apart(order: Order, at: Instant): Outcome {
    savepoint.run();
    try {
      const outcome = carryOut(order, at);
      release.run();
      return outcome;
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

  return ({ at, orders }) => {
    let failed = failedBeforeCommit;
    try {
      begin.run();
      const outcomes = orders.map((order) => apart(order, at));
      failed = failedCommit;
      commit.run();
      return outcomes;
    } catch (error) {
      abandon();
      const failure = failed(error);
      return orders.map(() => failure);
    }
  };
}

/** SQLite counts what other connections write, and not what this one does. */
function createForeignLook(db: Database): () => boolean {
  const counter = db.prepare<[], number>("PRAGMA data_version").pluck();
  let seen: number | undefined;
  return () => {
    try {
      const before = seen;
      seen = counter.get();
      return seen !== before;
    } catch {
      // Whoever can't look must not say that there is nothing.
      return true;
    }
  };
}
