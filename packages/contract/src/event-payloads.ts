import Type, { type TObject } from "typebox";
import { ALARM_KINDS } from "./alarms.ts";
import { closedObject } from "./closed-object.ts";
import type { EventType } from "./events.ts";
import { SUBMISSION_STATES } from "./states.ts";

const hash = (description: string) => Type.String({ pattern: "^[0-9a-f]{64}$", description });
const text = (description?: string) => Type.String(description === undefined ? {} : { description });
const count = (description?: string) => Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });
const paths = (description?: string) => Type.Array(Type.String(), description === undefined ? {} : { description });
const instant = (description?: string) =>
  Type.String({ format: "date-time", ...(description !== undefined && { description }) });
const state = (description?: string) =>
  Type.Enum([...SUBMISSION_STATES], description === undefined ? {} : { description });
const person = closedObject({ kind: Type.Enum(["agent", "human", "system", "unknown"]), id: Type.String() });

const upload = { uploadId: text(), field: text("dot-path") };
const measured = { latencyMs: count(), status: Type.Optional(count()) };
const endedUpload = closedObject({ ...upload, reason: text() });
const file = { filename: text(), mimeType: text(), sizeBytes: count() };

/** Where a call came from. In token events only admins can read it. */
export const CALLER_FIELDS = ["ipAddress", "userAgent"] as const;

/**
 * How a call used a token; part of every event of the token stream. Erasing a person removes address and user agent.
 */
const use = {
  operation: text(),
  outcome: Type.Enum(["success", "failure"]),
  tokenHash: Type.Optional(hash("of the token presented")),
  responseTimeMs: Type.Optional(count()),
  ipAddress: Type.Optional(text()),
  userAgent: Type.Optional(text()),
  handoffId: Type.Optional(text()),
};
/** Repeated uses between two batches of read audits are one event. */
const counted = {
  count: Type.Optional(Type.Integer({ minimum: 1, description: "identical uses that this event represents" })),
};
const rotation = {
  previousTokenHash: hash("of the token that was current before"),
  newTokenHash: hash("of the token that is current now"),
  newVersion: count(),
  expiresAt: instant("of the new token"),
  fieldsChanged: paths("dot-paths set or removed"),
  stateTransition: text("`in_progress -> submitted`"),
};
const key = {
  operation: Type.Enum(["create", "setFields", "submit"]),
  intakeId: text(),
  keyHash: hash("of the idempotency key"),
};

/** The payload of every event type. A field that isn't listed here isn't written. */
export const EVENT_PAYLOADS = {
  "submission.created": closedObject({ intakeId: text(), intakeVersion: text(), ttlMs: count(), expiresAt: instant() }),
  "field.updated": closedObject({
    fields: Type.Record(Type.String(), Type.Unknown(), { description: "by dot-path; sensitive values masked" }),
    removed: paths(),
  }),
  "validation.passed": closedObject({}),
  "validation.failed": closedObject({ missingFields: paths(), validationErrors: Type.Array(Type.Unknown()) }),
  "upload.requested": closedObject({ ...upload, ...file }),
  "upload.completed": closedObject({ ...upload, ...file, sha256: text() }),
  "upload.failed": endedUpload,
  "upload.abandoned": closedObject({
    ...upload,
    supersededBy: Type.Optional(text("the newer upload that replaced it")),
  }),
  "upload.collected": endedUpload,
  "submission.submitted": closedObject({ deliveryId: text() }),
  "review.requested": closedObject({ gate: text() }),
  "review.approved": closedObject({
    gate: text(),
    auto: Type.Boolean(),
    gatePassed: Type.Boolean(),
    comment: Type.Optional(text()),
  }),
  "review.rejected": closedObject({
    gate: text(),
    reasons: paths(),
    fieldReasons: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "by dot-path" })),
  }),
  "review.reassigned": closedObject({
    gate: text(),
    reason: text(),
    reviewers: closedObject({ ids: paths(), roles: paths(), emails: count("how many addresses") }),
  }),
  "review.escalated": closedObject({ gate: text() }),
  "delivery.attempted": closedObject({ deliveryId: text(), attempt: count() }),
  "delivery.succeeded": closedObject({ deliveryId: text(), ...measured }),
  "delivery.restarted": closedObject({ deliveryId: text() }),
  "destination.changed": closedObject({ kind: text() }),
  "delivery.failed": closedObject({
    deliveryId: text(),
    error: text(),
    nextAttemptAt: Type.Optional(instant()),
    givenUp: Type.Optional(Type.Literal(true, { description: "that was the last attempt" })),
    ...measured,
  }),
  "submission.finalized": closedObject({}),
  "submission.cancelled": closedObject({ reason: Type.Optional(text()) }),
  "submission.expired": closedObject({
    originalState: state(),
    ttlMs: count(),
    createdAt: instant(),
    expiredAt: instant(),
  }),
  "submission.erased": closedObject({}),
  "submission.redacted": closedObject({}),
  "submission.ttl_warning": closedObject({ expiresAt: instant(), remainingMs: count() }),
  "submission.replayed": closedObject({
    operation: key.operation,
    keyHash: key.keyHash,
    originalEventId: Type.Optional(text("the event that the original request wrote")),
    replayNumber: Type.Integer({ minimum: 1, description: "of that key" }),
  }),
  "handoff.link_issued": closedObject({
    handoffId: text(),
    kind: text(),
    expiresAt: instant(),
    allowedActors: Type.Optional(Type.Array(person)),
  }),
  "handoff.completed": closedObject({ handoffId: text(), missingFields: paths() }),
  "handoff.resumed": closedObject({ after: person }),
  "token.created": closedObject({
    ...use,
    tokenHash: hash("of the token that was created"),
    intakeId: text(),
    ttlMs: count("of the token"),
    expiresAt: instant(),
  }),
  "token.accessed": closedObject({
    ...use,
    ...counted,
    reason: Type.Optional(
      text(
        "of a failure: `rotated`, `ttl_elapsed`, `admin_revoked`, `handoff_revoked`, `malformed`, `wrong_code`, `code_spent`, or how the submission ended",
      ),
    ),
  }),
  "token.updated": closedObject({ ...use, ...rotation }),
  "token.conflict": closedObject({
    ...use,
    ...counted,
    reason: Type.Literal("version_mismatch"),
    currentTokenHash: hash("of the token that is current"),
    attemptedVersion: count(),
    currentVersion: count(),
    rejectedFields: paths("top-level names, at most 50"),
  }),
  "token.expired": closedObject({
    ...use,
    tokenHash: Type.Optional(hash("of the token that expired; absent when a hand-off was revoked")),
    reason: Type.Enum(["ttl", "terminal_state", "admin_revoked", "handoff_revoked"]),
    words: Type.Optional(text("why the hand-off was revoked, as the caller gave it")),
    finalState: state("of the submission then"),
    expiredAt: instant(),
  }),
  "security.incident": closedObject({
    incidentId: text(),
    kind: Type.Enum([...ALARM_KINDS]),
    count: count("what was counted, or milliseconds where a time is measured"),
    threshold: count(),
    windowMs: count(),
    response: Type.Optional(Type.Enum(["revoke", "reissue"], { description: "what was done to the tokens" })),
  }),
  "token.submitted": closedObject({ ...use, ...rotation, finalState: state() }),
  "token.cancelled": closedObject({ ...use, ...rotation, reason: Type.Optional(text("as the caller gave it")) }),
  "token.handed_off": closedObject({
    ...use,
    previousActor: person,
    currentActor: person,
    handoffDetected: Type.Literal(true),
  }),
  "idempotency.key.created": closedObject({ ...key, ttl_ms: count(), expiresAt: instant() }),
  "idempotency.replay": closedObject({
    ...key,
    replayCount: count("replays of this key, this one included"),
    originalTimestamp: instant(),
    timeSinceOriginal_ms: count(),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  "idempotency.conflict": closedObject({
    ...key,
    conflict_type: Type.Enum(["payload_mismatch", "key_collision"]),
    originalRequestHash: hash("of what the recorded request meant"),
    conflictingRequestHash: hash("of what this request means"),
    originalTimestamp: instant(),
    originalActor: person,
    count: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  "idempotency.key.expired": closedObject({
    ...key,
    ttl_ms: count("how long it was meant to be kept"),
    lifetime_ms: count("how long it was kept"),
    replayCount: count(),
    reason: Type.Enum(["ttl_elapsed", "explicit_delete"]),
  }),
  "idempotency.lock.contention": closedObject({
    ...key,
    waitTime_ms: count(),
    queueDepth: count("requests waiting for the key when this one arrived"),
    lockHolder: text("the server instance that held the key"),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
} as const satisfies Record<EventType, TObject>;
