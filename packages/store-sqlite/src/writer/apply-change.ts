import type { Instant, KeyRecord, ScopedKey } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { chainAudit } from "./chain.ts";
import { createEventWriter } from "./events.ts";
import type { FlatChange } from "./flat-change.ts";
import { createHandoffWriter } from "./handoffs.ts";
import { createJobWriter } from "./jobs.ts";
import { createRecordFinder, createRecordWriter } from "./records.ts";
import type { RestingTexts } from "./resting-events.ts";
import { createEraser } from "./retention.ts";
import { createReviewLinkWriter } from "./review-links.ts";
import { createRowWriter, type Standing } from "./submission-rows.ts";
import { createTokenWriter } from "./tokens.ts";

/** `Committed` as it crosses: what is there instead, whoever asked looks up itself. */
export type Refusal = { kind: "key_taken"; record: KeyRecord } | { kind: "stale" } | { kind: "too_late" };
/** Nearly every outcome: a number crosses at no cost. */
export const COMMITTED = 0;

interface Written {
  sid: number;
  /** All that the commit tells. */
  events: RestingTexts;
}

/** Checks one change and writes it. Runs inside the group's transaction; refuses before it writes anything. */
export function createApplyChange(db: Database): (change: FlatChange, at: Instant) => Refusal | typeof COMMITTED {
  const rows = createRowWriter(db);
  const tokens = createTokenWriter(db);
  const jobs = createJobWriter(db);
  const append = createEventWriter(db);
  const erase = createEraser(db);
  const handoffs = createHandoffWriter(db);
  const links = createReviewLinkWriter(db);
  const findRecord = createRecordFinder(db);
  const records = createRecordWriter(db);

  function refusal(change: FlatChange, standing: Standing | undefined, at: Instant): Refusal | undefined {
    const { expectedRevision, notAfter, tenant } = change;
    const scope = scopeOf(change);
    const record = scope && findRecord(scope, at);
    if (record !== undefined && record.fingerprint !== scope?.replaces) return { kind: "key_taken", record };
    const isNew = expectedRevision === null;
    const asExpected = isNew || (standing?.revision === expectedRevision && standing.tenant === tenant);
    if (!asExpected) return { kind: "stale" };
    return notAfter !== null && at > notAfter ? { kind: "too_late" } : undefined;
  }

  /** Undefined: the submission was to be new, and is not. */
  function writeRow(change: FlatChange, standing: Standing | undefined): Written | undefined {
    const { events, ...heads } = chainAudit(change.audit, change.events, standing);
    if (standing !== undefined) {
      rows.update(standing, change, heads);
      return { sid: standing.sid, events };
    }
    const sid = rows.insert(change, heads);
    return sid === undefined ? undefined : { sid, events };
  }

  function writeRecord(
    change: FlatChange,
    standing: Standing | undefined,
    { sid, at }: { sid: number; at: Instant },
  ): void {
    const { endedAt, record } = change;
    if (endedAt !== null && standing?.endedAt === null) records.submissionEnded(sid, endedAt);
    if (record !== undefined) records.put(change, record, { sid, at });
  }

  return (change, at) => {
    // For one that is to be new, its insertion looks whether it is.
    const standing = change.expectedRevision === null ? undefined : rows.standing(change.submissionId);
    const refused = refusal(change, standing, at);
    if (refused !== undefined) return refused;

    const written = writeRow(change, standing);
    if (written === undefined) return { kind: "stale" };
    const { sid, events } = written;
    const owner = { sid, tenant: change.tenant };
    tokens.issue(owner, change);
    append(owner, events);
    writeRecord(change, standing, { sid, at });
    for (const handoff of change.handoffs) handoffs.put(handoff);
    for (const link of change.links) links.put(link);
    for (const key of change.droppedJobs) jobs.drop(change.tenant, key);
    for (const job of change.jobs) jobs.put(change, job);
    if (change.erasure !== undefined) erase(sid, change, change.erasure);
    return COMMITTED;
  };
}

function scopeOf({ tenant, intakeId, record }: FlatChange): (ScopedKey & { replaces: string | null }) | undefined {
  if (record === undefined) return undefined;
  const [operation, hash, replaces] = record;
  return { tenant, intakeId, operation, hash, replaces };
}
