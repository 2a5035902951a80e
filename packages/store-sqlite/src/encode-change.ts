import {
  type AuditEvent,
  type ChainedEvent,
  type Change,
  endedAt,
  erasedRecord,
  handoffHashes,
  handoffsIn,
  isEditable,
  type KeyWrite,
  laneOf,
  reviewLinksIn,
  textAroundPlace,
} from "@formbridge/core";
import type {
  AuditColumns,
  ErasureColumns,
  Flat,
  HandoffColumns,
  Head,
  JobColumns,
  LinkColumns,
  RecordColumns,
} from "./writer/flat-change.ts";
import { NO_EVENTS, type RestingTexts, saidText, textOf, toldText, withEvent } from "./writer/resting-events.ts";

/** All that is made of a change with what the domain knows is made here: whoever writes it only puts columns into rows. */
export function encodeChange(change: Change): Flat {
  const { row, audit, jobs, dropJobs, side, key, erase } = change;
  const links = reviewLinksIn(side);
  const handoffs = handoffsIn(side);
  const flat: Flat = headOf(change, { links: links.length, handoffs: handoffs.length });
  for (const event of audit) flat.push(...auditColumns(event));
  for (const { key: name, kind, runAt } of jobs)
    flat.push(...([name, kind, laneOf(kind, row.submission.intakeId), runAt] satisfies JobColumns));
  flat.push(...dropJobs);
  for (const link of links) {
    const { linkId, submissionId, hash, forgetAfter } = link;
    flat.push(...([linkId, submissionId, hash, forgetAfter, JSON.stringify(link)] satisfies LinkColumns));
  }
  for (const handoff of handoffs) {
    const { handoffId, submissionId, forgetAfter } = handoff;
    const hashes = JSON.stringify(handoffHashes(handoff));
    flat.push(...([handoffId, submissionId, forgetAfter, JSON.stringify(handoff), hashes] satisfies HandoffColumns));
  }
  if (key !== undefined) flat.push(...recordColumns(key));
  if (erase === true) flat.push(...erasureColumns(change));
  return flat;
}

function headOf(change: Change, side: { links: number; handoffs: number }): Head {
  const { expect, tenant, token } = change;
  const { submission, sealedFields = null } = change.row;
  const { state, expiresAt, warnAt = null } = submission;
  const editable = isEditable(state);
  const events = restingTexts(change.events);
  return [
    "absent" in expect ? null : expect.revision,
    "absent" in expect ? null : (expect.notAfter ?? null),
    submission.submissionId,
    tenant,
    submission.intakeId,
    submission.createdBy.id,
    submission.createdAt,
    submission.definition,
    state,
    editable ? 1 : 0,
    expiresAt,
    editable ? warnAt : null,
    endedAt(submission) ?? null,
    submission.version,
    submission.revision,
    token?.sealed ?? null,
    sealedFields,
    JSON.stringify(submission),
    token?.hash ?? null,
    token?.epoch ?? 0,
    submission.token.issuedAt,
    token?.expiresAt ?? 0,
    events.count,
    events.events,
    events.hashes,
    events.said,
    change.audit.length,
    change.jobs.length,
    change.dropJobs.length,
    side.links,
    side.handoffs,
    change.key === undefined ? 0 : 1,
    change.erase === true ? 1 : 0,
  ];
}

function restingTexts(events: readonly ChainedEvent[]): RestingTexts {
  let all = NO_EVENTS;
  for (const event of events) {
    const { prevHash, hash, actorDigest, payloadDigest } = event;
    const hashes = prevHash + hash + actorDigest + payloadDigest;
    all = withEvent(all, { events: textOf(event, toldText(event)), hashes, said: saidText(event) });
  }
  return all;
}

function auditColumns(event: AuditEvent): AuditColumns {
  if (event.stream === "submission") throw new TypeError("the submission stream is chained by the caller");
  const { before, after } = textAroundPlace(event);
  const digests = event.actorDigest + event.payloadDigest;
  return [before, after, event.stream, toldText(event), digests, saidText(event)];
}

const recordColumns = (key: KeyWrite): RecordColumns => [
  key.ref.operation,
  key.ref.hash,
  key.replaces ?? null,
  key.fingerprint,
  key.principal,
  key.carriedVersion,
  key.failed ? 1 : 0,
  key.answer,
  key.answerBy ?? null,
  key.expiresAt,
  key.keepAfterEndMs ?? null,
];

function erasureColumns({ row, events }: Change): ErasureColumns {
  const { fingerprint, principal, answer } = erasedRecord;
  const kept = JSON.stringify(events.map(({ eventId }) => eventId));
  return [row.submission.erasedAt ?? null, kept, fingerprint, principal, answer];
}
