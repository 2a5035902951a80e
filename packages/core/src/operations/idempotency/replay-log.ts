/**
 * Replays of one submission are appended in batches: while one commit is running, the next replays are queued.
 *
 *   append ──▶ queue of the submission ──▶ one commit at a time ──▶ each replay gets its number
 *                                             └─ stale: again, on the current state
 *
 * So many simultaneous replays need only a few commits, which don't compete within this process. A replay is returned
 * once its event is committed, so a crash loses nothing.
 */
import type { Actor } from "@formbridge/contract";
import type { UnchainedEvent } from "../../domain/chained-event.ts";
import { decideReplays } from "../../domain/decide/replay.ts";
import { replayPayload } from "../../domain/idempotency/audit-payloads.ts";
import type { KeyRecord } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { auditEvent } from "../../domain/plan-change.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Deps } from "../deps.ts";
import { openRow } from "../read/open-snapshot.ts";
import { commitDecision } from "../write/commit.ts";
import { openAnswer } from "./keyed.ts";

export interface ReplayNote {
  submission: Submission;
  intake: CompiledIntake;
  actor: Actor;
  now: Instant;
  record: KeyRecord;
}

export interface ReplayLog {
  /** Returns this replay's number among those of its key, once it is committed. */
  append(note: ReplayNote): Promise<number>;
}

/** The submission as last loaded. */
type Latest = Omit<ReplayNote, "record">;

interface Entry {
  note: ReplayNote;
  resolve(replayNumber: number): void;
  reject(error: unknown): void;
}

const MAX_BATCH = 100;
/**
 * Losing a race means that another commit succeeded, so this ends; the limit is for a store that always returns
 * "stale".
 */
const MAX_TRIES = 10_000;

export function createReplayLog(deps: Deps): ReplayLog {
  const queues = new Map<string, Entry[]>();

  async function drain(submissionId: string, queue: Entry[]): Promise<void> {
    let latest: Latest | undefined;
    while (queue.length > 0) {
      // Replays that were loaded together arrive together, so batch them.
      await Promise.resolve();
      const batch = queue.splice(0, MAX_BATCH);
      const notes = batch.map(({ note }) => note);
      try {
        const appended = await appendBatch(deps, notes, newest(latest === undefined ? notes : [...notes, latest]));
        latest = appended.latest;
        for (const [index, { resolve }] of batch.entries()) resolve(appended.numbers[index] ?? 0);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    queues.delete(submissionId);
  }

  return {
    append: (note) =>
      new Promise((resolve, reject) => {
        const { submissionId } = note.submission;
        const queue = queues.get(submissionId) ?? [];
        queue.push({ note, resolve, reject });
        if (queues.has(submissionId)) return;
        queues.set(submissionId, queue);
        void drain(submissionId, queue);
      }),
  };
}

const newest = (looks: readonly Latest[]): Latest =>
  looks.reduce((one, other) => (other.submission.revision > one.submission.revision ? other : one));

async function appendBatch(
  deps: Deps,
  notes: readonly ReplayNote[],
  { intake, actor, ...latest }: Latest,
): Promise<{ numbers: number[]; latest: Latest }> {
  const replays = notes.map(({ record, actor, submission }) => {
    const { eventId } = openAnswer(deps, record, submission.tenant);
    return { ref: record.ref, by: actor, ...(eventId !== undefined && { originalEventId: eventId }) };
  });
  let { submission: before, now } = latest;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const decision = decideReplays(before, replays);
    const numbers = decision.events.map(({ replayNumber }) => replayNumber);
    // Erased meanwhile: its history takes no more names.
    if (before.erasedAt !== undefined) return { numbers, latest: { submission: before, now, intake, actor } };
    const audit = (after: Submission): UnchainedEvent[] =>
      notes.map((note, index) => replayAudit(deps, note, { submission: after, replayCount: numbers[index] ?? 1 }));
    const input = { operation: "replay", before, decision, actor, now, intake, ignoresDeadline: true, audit } as const;
    const { committed, after: submission } = await commitDecision(deps, input);
    if (committed.kind === "committed") {
      for (const [index, { record }] of notes.entries()) {
        const { submissionId, intakeId } = submission;
        const replayCount = numbers[index] ?? 1;
        const key = { intakeId, ...record.ref };
        deps.instrumentation.record({ name: "replay", key, submissionId, replayCount, originalAt: record.recordedAt });
      }
      return { numbers, latest: { submission, now, intake, actor } };
    }
    if (committed.kind !== "stale" || committed.loaded.submission === undefined) break;
    before = openRow(deps.sealer, committed.loaded.submission);
    now = committed.loaded.now;
  }
  throw new Error("a replay could not be appended to its history");
}

function replayAudit(
  deps: Deps,
  { record, actor, now }: ReplayNote,
  { submission, replayCount }: { submission: Submission; replayCount: number },
): UnchainedEvent {
  const payload = replayPayload({ record, intakeId: submission.intakeId, now, replayCount });
  return auditEvent("idempotency.replay", { submission, by: actor, payload, now, mint: deps.random });
}
