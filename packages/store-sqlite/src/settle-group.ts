import type { Change, Committed, Instant, Loaded, StoreDown } from "@formbridge/core";
import { downOf, storeDownOf } from "./failures.ts";
import { COMMITTED, type Refusal } from "./writer/apply-change.ts";
import { docIn } from "./writer/flat-change.ts";
import type { BatchAnswer, Order, Outcome } from "./writer/write-batch.ts";

export interface Queued {
  order: Order;
  /** Absent: a call. */
  change?: Change;
  resolve(answer: unknown): void;
  reject(down: StoreDown): void;
}

/** Is told before anybody is answered. */
export interface SettleWatcher {
  settled(change: Change, committedDoc: string | undefined): void;
  /** `failed`: the group was not committed. */
  ended(group: { changes: number; ms: number; failed: boolean }): void;
  /** Another process has written to the file. */
  foreignWrites(): void;
}

type Settle = (group: Queued[], at: Instant, answer: BatchAnswer) => number;

/** Answers all of a group that came back, and says how many changes it had. `reload`: what a stale change finds. */
export function createSettle(reload: (change: Change) => Loaded, watcher: SettleWatcher): Settle {
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

  return (group, at, { outcomes, ms, foreign }) => {
    if (foreign) watcher.foreignWrites();
    const changed = group.reduce((count, { change }) => count + (change === undefined ? 0 : 1), 0);
    if (changed > 0) watcher.ended({ changes: changed, ms, failed: outcomes.every(isStoreFailure) });
    group.forEach((queued, index) => {
      const outcome = outcomes[index];
      if (queued.change !== undefined)
        watcher.settled(queued.change, outcome === COMMITTED ? docOf(queued) : undefined);
    });
    group.forEach((queued, index) => {
      try {
        queued.resolve(answerOf(queued, outcomes[index] as Outcome, at));
      } catch (error) {
        queued.reject(downOf(error));
      }
    });
    return changed;
  };
}

const docOf = ({ order }: Queued): string | undefined => (Array.isArray(order) ? docIn(order) : undefined);

const isStoreFailure = (outcome: Outcome): boolean =>
  outcome !== COMMITTED && outcome.kind === "failed" && !outcome.isRefusal;
