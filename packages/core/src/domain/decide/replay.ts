import type { Actor } from "@formbridge/contract";
import type { DomainEvent } from "../events.ts";
import type { KeyRef } from "../idempotency/key-record.ts";
import type { Submission } from "../submission.ts";
import type { Decision } from "./decision.ts";

/** A recorded response that is returned again. */
export interface Replay {
  ref: KeyRef;
  by: Actor;
  /** The event of the original request. */
  originalEventId?: string;
}

type Replayed = Extract<DomainEvent, { type: "submission.replayed" }>;

/** Counts are kept for this many idempotency keys of a submission; the least recently replayed is dropped first. */
const MAX_COUNTED_KEYS = 200;

const nameOf = ({ operation, hash }: KeyRef): string => `${operation}:${hash}`;

/** How often the recorded response of an idempotency key was replayed. */
export const replaysOf = (submission: Pick<Submission, "replayCount" | "keyReplays">, ref: KeyRef): number =>
  ref.operation === "create" ? submission.replayCount : (submission.keyReplays?.[nameOf(ref)] ?? 0);

/** Several replays at once, each an event with its number. They change nothing else. */
export function decideReplays(
  submission: Submission,
  replays: readonly Replay[],
): Omit<Decision, "events"> & { events: Replayed[] } {
  const counted = new Map<string, number>();
  const events = replays.map(({ ref, by, originalEventId }): Replayed => {
    const replayNumber = (counted.get(nameOf(ref)) ?? replaysOf(submission, ref)) + 1;
    counted.set(nameOf(ref), replayNumber);
    return {
      type: "submission.replayed",
      ref,
      by,
      replayNumber,
      ...(originalEventId !== undefined && { originalEventId }),
    };
  });
  return { events, token: "keep" };
}

export function countReplay<State extends Submission>(submission: State, { ref, replayNumber }: Replayed): State {
  if (ref.operation === "create") return { ...submission, replayCount: replayNumber };
  const { [nameOf(ref)]: _before, ...others } = submission.keyReplays ?? {};
  const kept = Object.entries(others).slice(1 - MAX_COUNTED_KEYS);
  return { ...submission, keyReplays: Object.fromEntries([...kept, [nameOf(ref), replayNumber]]) };
}
