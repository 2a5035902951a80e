import type { Actor, EventStream, EventType, IntakeDefinition, JsonObject } from "@formbridge/contract";
import {
  type ApiKey,
  type AuditEvent,
  type ChainedEvent,
  type Change,
  chainEvent,
  EMPTY_HEAD,
  type Handoff,
  type Instant,
  type KeyWrite,
  type ReviewLink,
  type StoredIntake,
  type Submission,
  saltedDigest,
  sha256,
  toIso,
  type Webhook,
} from "@formbridge/core";

export const HOUR = 3_600_000;
export const TENANT = "acme";
export const INTAKE = "contact";
export const AGENT: Actor = { kind: "agent", id: "bot" };

let made = 0;
/** Unique, and later ones sort after earlier ones, as ids do. */
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
    head: EMPTY_HEAD,
    token: { issuedAt: at, expiresAt, seq: 1 },
    state: "in_progress",
    ...details,
  };
}

export function newEvent(submission: Submission, type: EventType, stream: EventStream, at: Instant): AuditEvent {
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

/** The row with its event put at the end of the submission's stream. */
function withEvent(submission: Submission, type: EventType, at: Instant): { row: Submission; event: ChainedEvent } {
  const event = chainEvent(newEvent(submission, type, "submission", at), submission.head);
  return { row: { ...submission, head: { seq: event.seq, hash: event.hash } }, event };
}

type Extras = Partial<Omit<Change, "tenant" | "row" | "events">>;

/** A create: one submission event, one token, one audit event. */
export function creation(details: Details, extras: Extras = {}): Change {
  const { row, event } = withEvent(newSubmission(details), "submission.created", details.at);
  return {
    tenant: row.tenant,
    expect: { absent: true },
    row: { submission: row },
    token: newToken(row),
    events: [event],
    audit: [newEvent(row, "token.created", "token", details.at)],
    side: [],
    jobs: [],
    dropJobs: [],
    ...extras,
  };
}

/** A write on what `before` left: next revision, next version, rotated token. */
export function update(before: Change, at: Instant, extras: Extras & { to?: Submission } = {}): Change {
  const last = before.row.submission;
  const { to = last, ...rest } = extras;
  const version = last.version + 1;
  const next = { ...to, version, revision: last.revision + 1, updatedAt: at, token: { ...to.token, issuedAt: at } };
  const { row, event } = withEvent(next, "field.updated", at);
  return {
    tenant: row.tenant,
    expect: { revision: last.revision },
    row: { submission: row },
    token: newToken(row),
    events: [event],
    audit: [newEvent(row, "token.updated", "token", at)],
    side: [],
    jobs: [],
    dropJobs: [],
    ...rest,
  };
}

/** A write that leaves version and token alone, as a validation does. */
export function quietUpdate(before: Change, at: Instant, extras: Extras & { to?: Submission } = {}): Change {
  const last = before.row.submission;
  const { to = last, ...rest } = extras;
  const { row, event } = withEvent({ ...to, revision: last.revision + 1, updatedAt: at }, "validation.passed", at);
  const expect = { revision: last.revision };
  return {
    tenant: row.tenant,
    expect,
    row: { submission: row },
    events: [event],
    audit: [],
    side: [],
    jobs: [],
    dropJobs: [],
    ...rest,
  };
}

/** A hand-off of what `of` writes, with so many sessions opened through its link. */
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

/** A link to review what `of` writes. */
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
