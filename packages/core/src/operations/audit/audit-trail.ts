import type { EventActor, EventType, JsonObject } from "@formbridge/contract";
import type { Instant } from "../../domain/instant.ts";
import { type AuditedSubmission, auditEvent, planAudit, takenOver } from "../../domain/plan-change.ts";
import type { Person, Submission } from "../../domain/submission.ts";
import { handedOffPayload, type TokenUse } from "../../domain/tokens/audit-payloads.ts";
import { handsOff } from "../../domain/tokens/token-audit.ts";
import { EVENTS_WRITTEN } from "../../ports/events.ts";
import type { Loaded, Snapshot } from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { commitTimed } from "../write/commit.ts";

/** Something that happened to a submission without changing it. */
export interface AuditNote {
  type: EventType;
  submission: AuditedSubmission & { tenant: string };
  by: EventActor;
  payload: JsonObject;
  now: Instant;
}

/** A reader who may have taken over; that is decided on the submission's state when this is written. */
export interface TakeOver {
  submission: AuditedSubmission & { tenant: string };
  by: EventActor;
  to: Person;
  use: TokenUse;
  now: Instant;
}

type Counted = AuditNote & { count: number };
interface Pending {
  notes: Map<string, Counted>;
  takeOver?: TakeOver;
}

/** How many notes are kept in memory for all submissions; beyond that, only without details. */
const MAX_NOTES = 20_000;
const MAX_BARE_NOTES = 25_000;
const MAX_TRIES = 16;
/** Submissions whose notes a flush writes at once. */
const AT_ONCE = 64;

/**
 * Reads and refusals change nothing but are part of the history. Reads are collected and written every few seconds:
 * equal ones become one event with a count, and those of one submission one commit.
 *
 * A note that can't be written is kept and retried with the next flush. When memory runs out, notes of one submission
 * are merged without their details; those that don't fit even then are counted, and the flush fails with their number.
 */
export interface AuditTrail {
  note(note: AuditNote): void;
  /** Resolves when the notes are written. If the store can't write them, they wait for the next flush. */
  record(...notes: AuditNote[]): Promise<void>;
  /** Like `record`. Writes `token.handed_off` unless the last actor was of the same kind. */
  recordTakeOver(takeOver: TakeOver): Promise<void>;
  /** Writes all notes, and throws if some couldn't be written. */
  flush(): Promise<void>;
}

export function createAuditTrail(deps: Deps): AuditTrail {
  const pending = new Map<string, Pending>();
  const writing = new Map<string, Promise<void>>();
  let size = 0;
  let lost = 0;

  function pendingOf({ submissionId }: AuditedSubmission): Pending {
    const known = pending.get(submissionId);
    if (known !== undefined) return known;
    const fresh: Pending = { notes: new Map() };
    pending.set(submissionId, fresh);
    return fresh;
  }

  function add(note: Counted): void {
    const known = pending.get(note.submission.submissionId)?.notes;
    const kept = size < MAX_NOTES ? note : withoutDetails(note);
    if (known !== undefined && (mergeInto(known, note) || mergeInto(known, kept))) return;
    if (size >= MAX_BARE_NOTES) lose(note.count);
    else {
      // Keep only what the event needs: the whole submission may be large.
      const { tenant, submissionId, state, version } = note.submission;
      const submission = { tenant, submissionId, state, version };
      pendingOf(submission).notes.set(keyOf(kept), { ...kept, submission });
      size += 1;
    }
  }

  function addTakeOver(takeOver: TakeOver): void {
    const due = pendingOf(takeOver.submission);
    if (due.takeOver === undefined) size += 1;
    due.takeOver = takeOver;
  }

  function lose(count: number): void {
    lost += count;
    deps.instrumentation.record({ name: "audit_notes", outcome: "lost", count });
  }

  /** One commit at a time per submission; notes that arrive during one go into the next. */
  function write(submissionId: string): Promise<void> {
    const before = writing.get(submissionId) ?? Promise.resolve();
    const next = before.catch(() => {}).then(() => drain(submissionId));
    writing.set(submissionId, next);
    const forget = (): void => {
      if (writing.get(submissionId) === next) writing.delete(submissionId);
    };
    next.then(forget, forget);
    return next;
  }

  async function drain(submissionId: string): Promise<void> {
    const due = pending.get(submissionId);
    if (due === undefined) return;
    pending.delete(submissionId);
    const takeOvers = due.takeOver === undefined ? 0 : 1;
    size -= due.notes.size + takeOvers;
    const count = [...due.notes.values()].reduce((sum, note) => sum + note.count, takeOvers);
    try {
      await append(deps, due);
      deps.instrumentation.record({ name: "audit_notes", outcome: "written", count });
    } catch (error) {
      deps.instrumentation.record({ name: "audit_notes", outcome: "retried", count });
      for (const note of due.notes.values()) add(note);
      if (due.takeOver !== undefined && pending.get(submissionId)?.takeOver === undefined) addTakeOver(due.takeOver);
      throw error;
    }
  }

  /** The refusal is returned even if the store can't write the note, which then waits. */
  const writeSoon = (submissionId: string): Promise<void> => write(submissionId).catch(() => {});

  return {
    note: (note) => add({ ...note, count: 1 }),
    async record(...notes) {
      for (const note of notes) add({ ...note, count: 1 });
      await Promise.all(new Set(notes.map(({ submission }) => submission.submissionId)).values().map(writeSoon));
    },
    async recordTakeOver(takeOver) {
      addTakeOver(takeOver);
      await writeSoon(takeOver.submission.submissionId);
    },
    async flush() {
      const failures: unknown[] = [];
      const due = [...pending.keys()];
      // All at once would delay callers' writes. If a whole batch fails, the store is down, and the rest waits for the next flush.
      for (let next = 0, isUp = true; isUp && next < due.length; next += AT_ONCE) {
        const outcomes = await Promise.allSettled(due.slice(next, next + AT_ONCE).map(write));
        const failed = outcomes.flatMap((outcome) =>
          outcome.status === "rejected" ? [outcome.reason as unknown] : [],
        );
        isUp = failed.length < outcomes.length;
        failures.push(...failed);
      }
      const dropped = lost;
      lost = 0;
      if (dropped > 0) failures.push(new Error(`${dropped} audit notes didn't fit into memory and were lost`));
      if (failures.length > 0) throw new AggregateError(failures, `audit notes: ${failures.map(String).join("; ")}`);
    },
  };
}

/** Measurements that differ between equal notes: merged notes keep the largest. */
const MEASURED = ["responseTimeMs", "waitTime_ms", "queueDepth"];

/** Two notes are equal if everything but the time and the measurements is. */
function keyOf({ type, submission, by, payload }: AuditNote): string {
  const what = Object.entries(payload).filter(([name]) => !MEASURED.includes(name));
  return JSON.stringify([type, submission.version, by.kind, by.id, what]);
}

function mergeInto(notes: Map<string, Counted>, note: Counted): boolean {
  const known = notes.get(keyOf(note));
  if (known === undefined) return false;
  known.count += note.count;
  for (const name of MEASURED) {
    const [one, other] = [known.payload[name], note.payload[name]];
    if (typeof one !== "number" || typeof other !== "number" || other <= one) continue;
    known.payload = { ...known.payload, [name]: other };
  }
  return true;
}

/** Details that callers can vary at will. */
const DETAILS = new Set(["ipAddress", "userAgent", "responseTimeMs", "rejectedFields"]);

const withoutDetails = (note: Counted): Counted => ({
  ...note,
  payload: Object.fromEntries(Object.entries(note.payload).filter(([name]) => !DETAILS.has(name))),
});

/** An audit raises the revision like every commit, so a concurrent write has to decide again. */
async function append(deps: Deps, due: Pending): Promise<void> {
  const first = due.notes.values().next().value ?? due.takeOver;
  if (first === undefined) return;
  const { tenant, submissionId } = first.submission;
  let loaded: Loaded = await deps.backend.store.load({ by: { id: submissionId, tenant } });
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // Reads from before an erasure are erased too.
    if (loaded.submission === undefined || loaded.submission.submission.erasedAt !== undefined) return;
    const { row, events, changes } = appended(deps, loaded.submission, due);
    if (events.length === 0) return;
    const expect = { revision: loaded.submission.submission.revision };
    const change = { tenant, expect, row, events, side: [], jobs: [], dropJobs: [] };
    const committed = await commitTimed(deps, change);
    if (committed.kind === "committed") {
      deps.wakeups.notify(EVENTS_WRITTEN);
      if (due.takeOver !== undefined && changes !== undefined) {
        const ms = Math.max(0, due.takeOver.now - row.submission.updatedAt);
        const { from, to } = changes;
        deps.instrumentation.record({ name: "token_handed_off", from: from.kind, to: to.kind, ms });
      }
      return;
    }
    if (committed.kind !== "stale") throw new Error(`the audit of ${submissionId} was refused: ${committed.kind}`);
    loaded = committed.loaded;
  }
  throw new Error(`the audit of ${submissionId} lost ${MAX_TRIES} races`);
}

function appended(deps: Deps, { submission, sealedFields }: Snapshot, due: Pending) {
  const noted = [...due.notes.values()].map(({ payload, count, ...note }) =>
    auditEvent(note.type, { ...note, payload: count > 1 ? { ...payload, count } : payload, mint: deps.random }),
  );
  const changes = handsOff(submission.lastPerson, due.takeOver?.to);
  if (due.takeOver !== undefined && changes !== undefined) {
    const { use, ...about } = due.takeOver;
    const payload = handedOffPayload(use, changes.from, changes.to);
    noted.push(auditEvent("token.handed_off", { ...about, payload, mint: deps.random }));
  }
  const { after, events } = planAudit(submission, noted);
  const lastUsedAt = Math.max(submission.lastUsedAt ?? 0, ...[...due.notes.values()].map(({ now }) => now));
  const row = { submission: { ...takeOver(after, due.takeOver, changes), lastUsedAt } };
  return { row: { ...row, ...(sealedFields !== undefined && { sealedFields }) }, events, changes };
}

function takeOver(after: Submission, by: TakeOver | undefined, changes: ReturnType<typeof handsOff>): Submission {
  if (by === undefined || changes === undefined) return after;
  const { humanSince: _, ...rest } = after;
  return { ...rest, lastPerson: changes.to, ...takenOver(after, changes.to, by.now) };
}
