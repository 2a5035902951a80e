import {
  type Change,
  type Committed,
  endedAt,
  handoffsIn,
  type Instant,
  type Loaded,
  type LoadQuery,
  reviewLinksIn,
  type ScopedKey,
} from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { createEventWriter } from "./events.ts";
import { createHandoffWriter } from "./handoffs.ts";
import { createJobWriter } from "./jobs.ts";
import { createPublicationWriter } from "./publications.ts";
import { createRecordFinder, createRecordWriter } from "./records.ts";
import { createEraser } from "./retention.ts";
import { createReviewLinkWriter } from "./review-links.ts";
import { createRowWriter, type StoredRow } from "./submission-rows.ts";
import { createTokenWriter } from "./tokens.ts";

/** Checks one change and writes it, inside a transaction. Refuses before it writes anything, in the port's order. */
export function createCommit(
  db: Database,
  load: (query: LoadQuery) => Loaded,
): (change: Change, at: Instant) => Committed {
  const rows = createRowWriter(db);
  const issueToken = createTokenWriter(db);
  const appendEvent = createEventWriter(db);
  const findRecord = createRecordFinder(db);
  const records = createRecordWriter(db);
  const putHandoff = createHandoffWriter(db);
  const putReviewLink = createReviewLinkWriter(db);
  const jobs = createJobWriter(db);
  const erase = createEraser(db);
  const publish = createPublicationWriter(db);

  const stale = ({ row, tenant, key }: Change): Committed => ({
    kind: "stale",
    loaded: load({ by: { id: row.submission.submissionId, tenant }, ...(key && { key: key.ref }) }),
  });

  function refusal(change: Change, stored: StoredRow | undefined, at: Instant): Committed | undefined {
    const { expect, key, tenant } = change;
    const scope = scopeOf(change);
    const record = scope && findRecord(scope, at);
    if (record !== undefined && record.fingerprint !== key?.replaces) return { kind: "key_taken", record };
    if ("absent" in expect) return undefined;
    if (stored?.revision !== expect.revision || stored.tenant !== tenant) return stale(change);
    return expect.notAfter !== undefined && at > expect.notAfter ? { kind: "too_late", now: at } : undefined;
  }

  /** Undefined: a create whose id already exists. */
  function writeRow(change: Change, stored: StoredRow | undefined): number | undefined {
    if (stored === undefined) return rows.insert(change);
    rows.update(stored, change);
    return stored.sid;
  }

  function writeRecord(change: Change, stored: StoredRow | undefined, { sid, at }: { sid: number; at: Instant }): void {
    const ended = endedAt(change.row.submission);
    if (ended !== undefined && stored?.ended_at === null) records.submissionEnded(sid, ended);
    if (change.key !== undefined) records.put(change, change.key, { sid, at });
  }

  return (change, at) => {
    const { expect, row, tenant, side } = change;
    // For a create, the INSERT finds out whether the id is new.
    const stored = "absent" in expect ? undefined : rows.stored(row.submission.submissionId);
    const refused = refusal(change, stored, at);
    if (refused !== undefined) return refused;

    const sid = writeRow(change, stored);
    if (sid === undefined) return stale(change);
    issueToken(sid, change);
    for (const event of change.events) appendEvent(sid, change, event);
    writeRecord(change, stored, { sid, at });
    records.drop(sid, change, at);
    for (const handoff of handoffsIn(side)) putHandoff(handoff);
    for (const link of reviewLinksIn(side)) putReviewLink(link);
    for (const key of change.dropJobs) jobs.drop(tenant, key);
    jobs.put(change);
    if (change.erase === true || change.redact !== undefined) erase(sid, change);
    publish(change, at);
    return { kind: "committed", at };
  };
}

const scopeOf = ({ tenant, row, key }: Change): ScopedKey | undefined =>
  key && { tenant, intakeId: row.submission.intakeId, operation: key.ref.operation, hash: key.ref.hash };
