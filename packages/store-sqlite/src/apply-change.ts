import {
  type Change,
  type Committed,
  chainAudit,
  endedAt,
  handoffsIn,
  type Instant,
  type Loaded,
  type LoadQuery,
  reviewLinksIn,
  type ScopedKey,
} from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { createEventWriter, type EventOwner } from "./events.ts";
import { createHandoffWriter } from "./handoffs.ts";
import { createJobWriter } from "./jobs.ts";
import type { Records } from "./records.ts";
import { createEraser } from "./retention.ts";
import { createReviewLinkWriter } from "./review-links.ts";
import { createRowWriter, type Standing } from "./submission-rows.ts";
import { createTokenWriter } from "./tokens.ts";

interface Reading {
  records: Records;
  load: (query: LoadQuery) => Loaded;
  now: () => Instant;
}

/** Checks one change and writes it. Runs inside the group's transaction; refuses before it writes anything. */
export function createApplyChange(db: Database, { records, load, now }: Reading): (change: Change) => Committed {
  const rows = createRowWriter(db);
  const issueToken = createTokenWriter(db);
  const jobs = createJobWriter(db);
  const append = createEventWriter(db);
  const erase = createEraser(db);
  const putHandoff = createHandoffWriter(db);
  const putReviewLink = createReviewLinkWriter(db);

  function refusal(change: Change, standing: Standing | undefined, at: Instant): Committed | undefined {
    const { expect, key, tenant } = change;
    const scope = scopeOf(change);
    const record = scope && records.find(scope, at);
    if (record !== undefined && record.fingerprint !== key?.replaces) return { kind: "key_taken", record };
    const asExpected =
      "absent" in expect
        ? standing === undefined
        : standing?.revision === expect.revision && standing.tenant === tenant;
    if (!asExpected) return { kind: "stale", loaded: reload(change) };
    if ("notAfter" in expect && expect.notAfter !== undefined && at > expect.notAfter)
      return { kind: "too_late", now: at };
    return undefined;
  }

  const reload = ({ row, tenant, key }: Change): Loaded =>
    load({ by: { id: row.submission.submissionId, tenant }, ...(key === undefined ? {} : { key: key.ref }) });

  function writeRow(
    change: Change,
    standing: Standing | undefined,
  ): { sid: number; audit: ReturnType<typeof chainAudit> } {
    const audit = chainAudit(change.audit, standing);
    const write = { row: change.row, sealedToken: change.token?.sealed, ...audit };
    if (standing === undefined) return { sid: rows.insert(change.tenant, write), audit };
    rows.update(standing, write);
    return { sid: standing.sid, audit };
  }

  function writeToken({ row, token }: Change, owner: EventOwner): void {
    if (token === undefined) return;
    const { issuedAt } = row.submission.token;
    const { hash, epoch, expiresAt } = token;
    issueToken({ ...owner, version: row.submission.version, hash, epoch, issuedAt, expiresAt });
  }

  function writeRecord(
    change: Change,
    standing: Standing | undefined,
    { sid, at }: { sid: number; at: Instant },
  ): void {
    const { submission } = change.row;
    const ended = endedAt(submission) ?? null;
    if (ended !== null && standing?.endedAt === null) records.submissionEnded(sid, ended);
    const scope = scopeOf(change);
    if (scope === undefined || change.key === undefined) return;
    records.put({ scope, sid, submissionId: submission.submissionId, write: change.key, at, endedAt: ended });
  }

  return (change) => {
    const at = now();
    const { submissionId } = change.row.submission;
    const standing = rows.standing(submissionId);
    const refused = refusal(change, standing, at);
    if (refused !== undefined) return refused;

    const { sid, audit } = writeRow(change, standing);
    const owner = { sid, tenant: change.tenant };
    writeToken(change, owner);
    append(owner, [...change.events, ...audit.events]);
    writeRecord(change, standing, { sid, at });
    for (const handoff of handoffsIn(change.side)) putHandoff(handoff);
    for (const link of reviewLinksIn(change.side)) putReviewLink(link);
    for (const key of change.dropJobs) jobs.drop(change.tenant, key);
    for (const job of change.jobs) jobs.put(change.row.submission, job);
    if (change.erase === true) erase(sid, change);
    return { kind: "committed", at };
  };
}

function scopeOf({ tenant, row, key }: Change): ScopedKey | undefined {
  if (key === undefined) return undefined;
  const { operation, hash } = key.ref;
  return { tenant, intakeId: row.submission.intakeId, operation, hash };
}
