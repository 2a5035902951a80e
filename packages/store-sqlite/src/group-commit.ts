/**
 * One COMMIT, and so one sync of the disk, for all that arrives together.
 *
 *   commit, call ──▶ queue ──▶ batch ──▶ thread, or here while there is none ──▶ COMMIT ──▶ all answers
 *
 * The queue is sent with the next turn of the event loop; to the thread, a good many are sent at once. While it is busy writing, one
 * more batch may wait for it. Once it has written, the next one goes after the answers of the last have left: whoever they wake
 * needs a core, and until the thread has something to do one is free.
 *
 * Refusals wait for the COMMIT too: they may tell of a change that was made earlier in their own group.
 */
import { type Change, type Committed, type Instant, type Loaded, StoreDown } from "@formbridge/core";
import { encodeChange } from "./encode-change.ts";
import { storeDownOf } from "./failures.ts";
import { createSettle, type Queued, type SettleWatcher } from "./settle-group.ts";
import type { CallAnswer, CallArguments, CallName } from "./writer/calls.ts";
import { failedBeforeCommit } from "./writer/failures.ts";
import type { Batch, BatchAnswer, Outcome, WriteBatch } from "./writer/write-batch.ts";
import type { WriterThread } from "./writer-thread.ts";

const MAX_GROUP = 256;
/** So many are worth a message of their own. */
const FULL_ENOUGH = 16;
const MAX_UNDER_WAY = 2;
/** Commands and quiet servers never have so many, and need no thread. */
const CHANGES_BEFORE_THREAD = 50;

/** Has a write done that is no change of a submission. */
export type CallWriter = <Name extends CallName>(name: Name, ...args: CallArguments<Name>) => Promise<CallAnswer<Name>>;

export interface CommitWatcher extends SettleWatcher {
  /** A change goes to whoever writes; it is settled when it comes back. */
  sent(change: Change): void;
  /** A batch went to the thread. */
  sentToThread(): void;
  cameBack(batch: { commits: boolean }): void;
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
  const settle = createSettle(reload, watcher);
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
      flush();
    });
  }

  function mayFlush(): boolean {
    if (underWay === 0) return true;
    return underWay < MAX_UNDER_WAY && queue.length >= FULL_ENOUGH && thread?.isBusy() === true;
  }

  function flush(): void {
    if (!mayFlush() || (queue.length === 0 && !isLookWanted)) return;
    isLookWanted = false;
    const group = queue.splice(0, MAX_GROUP);
    for (const { change } of group) if (change !== undefined) watcher.sent(change);
    const batch = { at: now(), orders: group.map(({ order }) => order) };
    if (thread?.isUp() === true) flushToThread(thread, group, batch);
    else {
      changes += settle(group, batch.at, write(batch));
      if (queue.length > 0) schedule();
      if (changes >= CHANGES_BEFORE_THREAD) void thread?.start();
    }
  }

  function flushToThread(to: WriterThread, group: Queued[], batch: Batch): void {
    // One that only looks keeps nobody waiting: a batch may follow it at once.
    const commits = group.length > 0;
    if (commits) underWay += 1;
    watcher.sentToThread();
    to.send(batch, (answer) => {
      if (commits) underWay -= 1;
      watcher.cameBack({ commits });
      changes += settle(group, batch.at, answer instanceof Error ? diedOver(group, answer) : answer);
      if (queue.length > 0 || isLookWanted) schedule();
      if (underWay === 0) drained();
    });
  }

  function enqueue<Answer>(make: () => Pick<Queued, "order" | "change">): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (isClosed) return reject(new StoreDown("the database is closed", "not_applied"));
      queue.push({ ...make(), resolve: resolve as Queued["resolve"], reject });
      if (queue.length >= FULL_ENOUGH && thread?.isUp() === true) flush();
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
      flush();
    },
    async close() {
      isClosed = true;
      while (queue.length > 0 || underWay > 0) {
        flush();
        if (underWay > 0)
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
