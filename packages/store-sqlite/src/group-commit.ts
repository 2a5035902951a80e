/**
 * One COMMIT, and so one sync of the disk, for all that arrives together.
 *
 *   commit, call ──▶ queue ──▶ batch ──▶ thread, or here while there is none ──▶ COMMIT ──▶ all answers
 *
 * The queue is sent with the next turn of the event loop. To the thread, a good many are sent at once, and while it writes a batch,
 * one more may wait for it: it never waits for us. What comes meanwhile goes when a batch comes back.
 *
 * Refusals wait for the COMMIT too: they may tell of a change that was made earlier in their own group.
 */
import { type Change, type Committed, type Instant, type Loaded, StoreDown } from "@formbridge/core";
import { encodeChange } from "./encode-change.ts";
import { downOf, storeDownOf } from "./failures.ts";
import { COMMITTED, type Refusal } from "./writer/apply-change.ts";
import type { CallAnswer, CallArguments, CallName } from "./writer/calls.ts";
import { failedBeforeCommit } from "./writer/failures.ts";
import type { Batch, BatchAnswer, Order, Outcome, WriteBatch } from "./writer/write-batch.ts";
import type { WriterThread } from "./writer-thread.ts";

const MAX_GROUP = 256;
/** So many are worth a message of their own. */
const FULL_ENOUGH = 16;
const MAX_UNDER_WAY = 2;
/** Commands and quiet servers never have so many, and need no thread. */
const CHANGES_BEFORE_THREAD = 50;

interface Queued {
  order: Order;
  /** Absent: a call. */
  change?: Change;
  resolve(answer: unknown): void;
  reject(down: StoreDown): void;
}

/** Has a write done that is no change of a submission. */
export type CallWriter = <Name extends CallName>(name: Name, ...args: CallArguments<Name>) => Promise<CallAnswer<Name>>;

/** Is told before anybody is answered. */
export interface CommitWatcher {
  sent(change: Change): void;
  settled(change: Change, isCommitted: boolean): void;
  /** `failed`: the group was not committed. */
  ended(group: { changes: number; ms: number; failed: boolean }): void;
  /** A batch went to the thread. */
  sentToThread(): void;
  cameBack(batch: { commits: boolean }): void;
  /** Another process has written to the file. */
  foreignWrites(): void;
}

export interface GroupCommitOptions {
  now: () => Instant;
  /** Writes in the caller's thread. */
  write: WriteBatch;
  /** Writes instead, once there is enough to write. */
  thread?: WriterThread | undefined;
  /** What a stale change finds. */
  reload: (change: Change) => Loaded;
  watcher: CommitWatcher;
}

export interface GroupCommit {
  commit(change: Change): Promise<Committed>;
  call: CallWriter;
  /** Has the thread look who else has written, and tell with its next answer. */
  look(): void;
  /** Commits what is queued, and ends the thread; everything later is refused. */
  close(): Promise<void>;
}

export function createGroupCommit({ now, write, thread, reload, watcher }: GroupCommitOptions): GroupCommit {
  const queue: Queued[] = [];
  let isClosed = false;
  let isScheduled = false;
  let isLookWanted = false;
  let underWay = 0;
  let changes = 0;
  let drained = (): void => {};

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (underWay === 0) flush();
    });
  }

  function flush(): void {
    if (queue.length === 0 && !isLookWanted) return;
    isLookWanted = false;
    const group = queue.splice(0, MAX_GROUP);
    for (const { change } of group) if (change !== undefined) watcher.sent(change);
    const batch = { at: now(), orders: group.map(({ order }) => order) };
    if (thread?.isUp() === true) flushToThread(thread, group, batch);
    else {
      settle(group, batch.at, write(batch));
      if (queue.length > 0) schedule();
      if (changes >= CHANGES_BEFORE_THREAD) void thread?.start();
    }
  }

  function flushToThread(to: WriterThread, group: Queued[], batch: Batch): void {
    underWay += 1;
    watcher.sentToThread();
    to.send(batch, (answer) => {
      underWay -= 1;
      watcher.cameBack({ commits: group.length > 0 });
      if (underWay < MAX_UNDER_WAY) flush();
      settle(group, batch.at, answer instanceof Error ? diedOver(group, answer) : answer);
      if (underWay === 0) drained();
    });
  }

  function settle(group: Queued[], at: Instant, { outcomes, ms, foreign }: BatchAnswer): void {
    if (foreign) watcher.foreignWrites();
    const changed = group.reduce((count, { change }) => count + (change === undefined ? 0 : 1), 0);
    changes += changed;
    if (changed > 0) watcher.ended({ changes: changed, ms, failed: outcomes.every(isStoreFailure) });
    group.forEach((queued, index) => {
      const outcome = outcomes[index];
      if (queued.change !== undefined) watcher.settled(queued.change, outcome === COMMITTED);
    });
    group.forEach((queued, index) => {
      try {
        queued.resolve(answerOf(queued, outcomes[index] as Outcome, at));
      } catch (error) {
        queued.reject(downOf(error));
      }
    });
  }

  function answerOf({ change }: Queued, outcome: Outcome, at: Instant): unknown {
    if (outcome === COMMITTED) return { kind: "committed", at } satisfies Committed;
    if (outcome.kind === "answered") return outcome.value;
    if (outcome.kind === "failed") throw storeDownOf(outcome);
    return change === undefined ? undefined : refused(change, outcome, at);
  }

  function refused(change: Change, refusal: Refusal, at: Instant): Committed {
    if (refusal.kind === "stale") return { kind: "stale", loaded: reload(change) };
    return refusal.kind === "too_late" ? { kind: "too_late", now: at } : refusal;
  }

  function enqueue<Answer>(make: () => Pick<Queued, "order" | "change">): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (isClosed) return reject(new StoreDown("the database is closed", "not_applied"));
      queue.push({ ...make(), resolve: resolve as Queued["resolve"], reject });
      if (queue.length >= FULL_ENOUGH && underWay < MAX_UNDER_WAY && thread?.isUp() === true) flush();
      else schedule();
    });
  }

  return {
    commit: (change) =>
      enqueue(() => {
        try {
          return { order: encodeChange(change), change };
        } catch (error) {
          throw storeDownOf(failedBeforeCommit(error));
        }
      }),
    call: (name, ...args) => enqueue(() => ({ order: { name, args } })),
    look() {
      isLookWanted = true;
      if (underWay === 0) flush();
    },
    async close() {
      isClosed = true;
      while (queue.length > 0) flush();
      if (underWay > 0) {
        await new Promise<void>((resolve) => {
          drained = resolve;
        });
      }
      await thread?.close();
    },
  };
}

/** Nobody knows whether its last COMMIT was made. */
function diedOver(group: Queued[], { message }: Error): BatchAnswer {
  const failure: Outcome = { kind: "failed", outcome: "unknown", isRefusal: false, message };
  return { outcomes: group.map(() => failure), ms: 0, foreign: true };
}

const isStoreFailure = (outcome: Outcome): boolean =>
  outcome !== COMMITTED && outcome.kind === "failed" && !outcome.isRefusal;
