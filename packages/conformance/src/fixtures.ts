import type { Actor, EventStream, EventType, IntakeDefinition, JsonObject } from "@formbridge/contract";
import {
  type ApiKey,
  type Change,
  chainEvents,
  EMPTY_HEADS,
  type Handoff,
  type Instant,
  type KeyRef,
  type KeyWrite,
  type ReviewLink,
  type StoredIntake,
  type Submission,
  type SubmissionRow,
  saltedDigest,
  sha256,
  toIso,
  type UnchainedEvent,
  type Webhook,
} from "@formbridge/core";

export const HOUR = 3_600_000;
export const TENANT = "acme";
export const INTAKE = "contact";
export const AGENT: Actor = { kind: "agent", id: "bot" };

let made = 0;
/** Unique ids that sort in the order of their creation, like real ones. */
export function newId(prefix: "sub" | "evt" | "key" | "hof" | "whk"): string {
  made += 1;
  return `${prefix}_01900000-0000-7000-8000-${made.toString(16).padStart(12, "0")}`;
}
export const newHash = (): string => sha256(newId("key"));

type Details = Partial<
  Pick<Submission, "tenant" | "submissionId" | "intakeId" | "fields" | "createdBy" | "ttlMs" | "expiresAt">
> & { at: Instant };

function newSubmission({ at, ...details }: Details): Submission {
  const ttlMs = details.ttlMs ?? 10 * HOUR;
  const expiresAt = details.expiresAt ?? at + ttlMs;
  return {
    tenant: TENANT,
    submissionId: newId("sub"),
    intakeId: INTAKE,
    intakeVersion: "1.0.0",
    definition: sha256("definition"),
    version: 1,
    revision: 1,
    epoch: 0,
    epochSince: at,
    tokensRevoked: false,
    fields: { name: "Ada" },
    sizeBound: 14,
    attribution: { paths: { name: 1 }, removed: {}, writes: { 1: { actor: AGENT, at } } },
    missingCount: 0,
    createdAt: at,
    updatedAt: at,
    createdBy: AGENT,
    lastUpdatedBy: AGENT,
    ttlMs,
    expiresAt,
    warnAt: at + Math.floor(ttlMs * 0.8),
    replayCount: 0,
    uploads: [],
    rejections: [],
    heads: EMPTY_HEADS,
    token: { hash: "0".repeat(64), issuedAt: at, expiresAt, seq: 1 },
    state: "in_progress",
    ...details,
  };
}

export function newEvent(submission: Submission, type: EventType, stream: EventStream, at: Instant): UnchainedEvent {
  const payload: JsonObject = { note: type };
  return {
    eventId: newId("evt"),
    stream,
    type,
    submissionId: submission.submissionId,
    ts: toIso(at),
    state: submission.state,
    version: submission.version,
    actor: AGENT,
    payload,
    actorSalt: "pepper",
    actorDigest: saltedDigest("pepper", AGENT),
    payloadSalt: "salt",
    payloadDigest: saltedDigest("salt", payload),
  };
}

const newToken = (submission: Submission): NonNullable<Change["token"]> => {
  const hash = newHash();
  return { hash, sealed: `sealed:${hash}`, epoch: submission.epoch, expiresAt: submission.token.expiresAt };
};

type EventName = readonly [type: EventType, stream: EventStream];

/** The submission after these events, and the events chained onto its heads. */
function withEvents(
  submission: Submission,
  names: readonly EventName[],
  at: Instant,
): { row: Change["row"]; events: Change["events"] } {
  const named = names.map(([type, stream]) => newEvent(submission, type, stream, at));
  const { events, heads } = chainEvents(submission.heads, named);
  return { row: { submission: { ...submission, heads } }, events };
}

/** The change with additional events. */
export function alsoTelling(change: Change, ...names: readonly EventName[]): Change {
  const { row, events } = withEvents(change.row.submission, names, change.row.submission.updatedAt);
  return { ...change, row, events: [...change.events, ...events] };
}

const CREATED = [
  ["submission.created", "submission"],
  ["token.created", "token"],
] as const;
const UPDATED = [
  ["field.updated", "submission"],
  ["token.updated", "token"],
] as const;
const VALIDATED = [["validation.passed", "submission"]] as const;

type Extras = Partial<Omit<Change, "tenant" | "row" | "events">>;

/** A create: one submission event, one token, one audit event. */
export function creation(details: Details, extras: Extras = {}): Change {
  const submission = newSubmission(details);
  return {
    tenant: submission.tenant,
    expect: { absent: true },
    token: newToken(submission),
    ...withEvents(submission, CREATED, details.at),
    side: [],
    jobs: [],
    dropJobs: [],
    ...extras,
  };
}

/** A write following `before`: next revision, next version, rotated token. */
export function update(before: Change, at: Instant, extras: Extras & { to?: Submission } = {}): Change {
  const last = before.row.submission;
  const { to = last, ...rest } = extras;
  const version = last.version + 1;
  const next = { ...to, version, revision: last.revision + 1, updatedAt: at, token: { ...to.token, issuedAt: at } };
  return {
    tenant: next.tenant,
    expect: { revision: last.revision },
    token: newToken(next),
    ...withEvents({ ...next, heads: last.heads }, UPDATED, at),
    side: [],
    jobs: [],
    dropJobs: [],
    ...rest,
  };
}

/** A write that keeps version and token, as a validation does. */
export function quietUpdate(before: Change, at: Instant, extras: Extras & { to?: Submission } = {}): Change {
  const last = before.row.submission;
  const { to = last, ...rest } = extras;
  const next = { ...to, revision: last.revision + 1, updatedAt: at, heads: last.heads };
  return {
    tenant: next.tenant,
    expect: { revision: last.revision },
    ...withEvents(next, VALIDATED, at),
    side: [],
    jobs: [],
    dropJobs: [],
    ...rest,
  };
}

/** A hand-off of the submission in `of`, with this many sessions opened through its link. */
export function newHandoff(of: Change, details: Partial<Handoff> & { at: Instant; opened?: number }): Handoff {
  const { at, opened = 0, ...rest } = details;
  const { tenant, submissionId, epoch } = of.row.submission;
  const session = () => ({ hash: newHash(), actor: AGENT, openedAt: at, expiresAt: at + HOUR });
  return {
    handoffId: newId("hof"),
    tenant,
    submissionId,
    kind: "session",
    createdAt: at,
    createdBy: AGENT,
    expiresAt: at + HOUR,
    epoch,
    link: newHash(),
    sessions: Array.from({ length: opened }, session),
    forgetAfter: at + HOUR,
    ...rest,
  };
}

/** A review link for the submission in `of`. */
export function newReviewLink(of: Change, { at, ...rest }: Partial<ReviewLink> & { at: Instant }): ReviewLink {
  const { tenant, submissionId } = of.row.submission;
  return {
    linkId: newHash(),
    hash: newHash(),
    tenant,
    submissionId,
    deliveryId: "dlv_1",
    gateIndex: 0,
    email: "jane@example.com",
    createdAt: at,
    expiresAt: at + HOUR,
    forgetAfter: at + HOUR,
    ...rest,
  };
}

export const cancelled = (submission: Submission, at: Instant): Submission => ({
  ...submission,
  state: "cancelled",
  cancelledAt: at,
  cancelledBy: AGENT,
});

export function keyWrite(details: Partial<KeyWrite> & Pick<KeyWrite, "expiresAt">): KeyWrite {
  return {
    ref: { operation: "create", hash: newHash() },
    fingerprint: newHash(),
    principal: "key:bot",
    carriedVersion: 0,
    failed: false,
    answer: "sealed answer",
    ...details,
  };
}

function newDefinition(id: string, version = "1.0.0"): IntakeDefinition {
  return { id, version, name: id, schema: { type: "object" }, destination: { kind: "store" } };
}

export function newIntake(id: string, version = "1.0.0"): Omit<StoredIntake, "retired" | "updatedAt"> {
  return { tenant: TENANT, source: "api", definition: newDefinition(id, version), digest: sha256(`${id}@${version}`) };
}

export function newApiKey(details: Partial<ApiKey> = {}): ApiKey {
  const keyId = newId("key");
  return {
    keyId,
    hash: sha256(keyId),
    tenant: TENANT,
    name: "a key",
    roles: ["agent"],
    actor: AGENT,
    createdAt: 0,
    ...details,
  };
}

export function newWebhook(details: Partial<Webhook> = {}): Webhook {
  return {
    webhookId: newId("whk"),
    tenant: TENANT,
    url: "https://receiver.invalid/events",
    secrets: [{ sealed: "sealed secret" }],
    createdAt: 0,
    revision: 1,
    ...details,
  };
}

/** A change of the history only, which deletes a record. */
export function dropping({ submission, sealedFields }: SubmissionRow, key: KeyRef, at: number): Change {
  return {
    tenant: submission.tenant,
    expect: { revision: submission.revision },
    row: {
      submission: { ...submission, revision: submission.revision + 1, updatedAt: at },
      ...(sealedFields !== undefined && { sealedFields }),
    },
    events: [],
    side: [],
    jobs: [],
    dropJobs: [],
    dropKeys: [key],
  };
}
