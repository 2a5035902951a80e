import type {
  Actor,
  AlarmKind,
  Destination,
  FieldError,
  FileReference,
  HandoffKind,
  Json,
  JsonObject,
  ReviewerGroup,
  SubmissionState,
} from "@formbridge/contract";
import { isMaskedAt, MASK, maskValue } from "./fields/mask.ts";
import type { CollectReason } from "./files/fate.ts";
import type { Hash } from "./hashing.ts";
import type { KeyRef } from "./idempotency/key-record.ts";
import type { Instant } from "./instant.ts";
import { toIso } from "./instant.ts";
import type { CompiledIntake } from "./intake/compiled-intake.ts";
import type { Sealed } from "./sealed.ts";
import type { AttemptLease, DeliveryAttempt, Upload } from "./submission.ts";
import type { Traces } from "./traces.ts";
import type { EditableState } from "./transitions.ts";

/** What is known about an attempt once it has ended. */
export type AttemptResult = Pick<DeliveryAttempt, "latencyMs" | "status" | "answer">;

export interface Leaf {
  path: readonly string[];
  value: Json;
}

/** What happened, with real values. `payloadOf` turns it into what the history shows. */
export type DomainEvent = { by?: Actor } & (
  | { type: "submission.created"; intakeId: string; intakeVersion: string; ttlMs: number; expiresAt: Instant }
  | {
      type: "field.updated";
      to: EditableState;
      fields: JsonObject;
      set: readonly Leaf[];
      removed: readonly (readonly string[])[];
      sizeBound: number;
      missingCount: number;
      /** Pending uploads whose item is now at another place of its list. */
      moved?: readonly { uploadId: string; field: string }[];
    }
  | { type: "validation.passed"; to: EditableState }
  | { type: "validation.failed"; to: EditableState; missing: string[]; errors: FieldError[] }
  | { type: "upload.requested"; to: EditableState; upload: Upload }
  | {
      type: "upload.completed";
      to: EditableState;
      uploadId: string;
      reference: FileReference;
      fields: JsonObject;
      path: readonly string[];
      missingCount: number;
    }
  | { type: "upload.failed"; to: EditableState; uploadId: string; field: string; reason: string }
  | { type: "submission.submitted"; deliveryId: string; answer?: { key: Hash; by: Instant } }
  | { type: "upload.abandoned"; to: EditableState; uploadId: string; field: string; supersededBy?: string }
  | { type: "upload.collected"; to?: EditableState; uploadId: string; field: string; reason: CollectReason }
  | { type: "review.requested"; gateIndex: number; gate: string }
  | {
      type: "review.approved";
      gateIndex: number;
      gate: string;
      auto: boolean;
      passed: "no" | "gate" | "all";
      comment?: string;
    }
  | {
      type: "review.rejected";
      gate: string;
      reasons: string[];
      fieldReasons?: Record<string, string>;
      expiresAt: Instant;
    }
  | { type: "review.escalated"; gateIndex: number; gate: string }
  | { type: "review.reassigned"; gateIndex: number; gate: string; reviewers: ReviewerGroup; reason: string }
  | { type: "delivery.attempted"; deliveryId: string; attempt: number; lease: AttemptLease }
  | { type: "delivery.succeeded"; deliveryId: string; result: AttemptResult }
  | { type: "delivery.failed"; deliveryId: string; error: string; retryAt?: Instant; result: AttemptResult }
  | { type: "delivery.restarted"; deliveryId: string }
  | { type: "destination.changed"; kind: Destination["kind"]; sealed: Sealed }
  | { type: "submission.finalized" }
  | { type: "submission.cancelled"; reason?: string }
  | {
      type: "submission.expired";
      originalState: SubmissionState;
      ttlMs: number;
      createdAt: Instant;
      expiredAt: Instant;
    }
  | { type: "submission.erased" }
  | { type: "submission.redacted"; traces: Pick<Traces, "sought" | "uploads"> }
  | { type: "submission.ttl_warning"; expiresAt: Instant; remainingMs: number }
  | { type: "submission.replayed"; ref: KeyRef; replayNumber: number; originalEventId?: string }
  | { type: "handoff.link_issued"; handoffId: string; kind: HandoffKind; expiresAt: Instant; allowedActors?: Actor[] }
  | { type: "handoff.completed"; handoffId: string; missing: string[] }
  | { type: "handoff.resumed"; after: Actor }
  | {
      type: "security.incident";
      incidentId: string;
      kind: AlarmKind;
      count: number;
      threshold: number;
      windowMs: number;
      response?: "revoke" | "reissue";
    }
);

/** Without the receiver's response, which may quote what was sent. */
const measured = ({ latencyMs, status }: AttemptResult): JsonObject => ({
  latencyMs,
  ...(status !== undefined && { status }),
});

const dotted = (path: readonly string[]): string => path.join(".");

function updatedFields(set: readonly Leaf[], intake: CompiledIntake): JsonObject {
  const leaves = set.map(({ path, value }) => ({ name: dotted(path), path, value }));
  leaves.sort((one, other) => (one.name < other.name ? -1 : 1));
  const shown: JsonObject = {};
  for (const { name, path, value } of leaves) shown[name] = maskValue(value, path, intake) as Json;
  return shown;
}

/**
 * What the history shows of an event, with sensitive values masked. The payloads of common events have their keys in
 * hashing order, so that serializing them needs no sorting.
 */
export function payloadOf(event: DomainEvent, intake: CompiledIntake): JsonObject {
  switch (event.type) {
    case "submission.created":
      return {
        expiresAt: toIso(event.expiresAt),
        intakeId: event.intakeId,
        intakeVersion: event.intakeVersion,
        ttlMs: event.ttlMs,
      };
    case "field.updated":
      return { fields: updatedFields(event.set, intake), removed: event.removed.map(dotted) };
    case "security.incident": {
      const { type: _, by: __, ...payload } = event;
      return payload;
    }
    case "validation.passed":
    case "submission.finalized":
    case "submission.erased":
    case "submission.redacted":
      return {};
    case "validation.failed":
      return { missingFields: event.missing, validationErrors: event.errors as unknown as Json };
    case "upload.requested": {
      const { uploadId, field, filename, mimeType, sizeBytes } = event.upload;
      const shown = isMaskedAt(intake.pathOf(field), intake) ? MASK : filename;
      return { uploadId, field, filename: shown, mimeType, sizeBytes };
    }
    case "upload.completed": {
      const { filename, mimeType, sizeBytes, sha256 } = event.reference;
      const file = isMaskedAt(event.path, intake) ? { filename: MASK, sha256: MASK } : { filename, sha256 };
      return { uploadId: event.uploadId, field: dotted(event.path), mimeType, sizeBytes, ...file };
    }
    case "upload.failed":
    case "upload.collected":
      return { uploadId: event.uploadId, field: event.field, reason: event.reason };
    case "upload.abandoned": {
      const { uploadId, field, supersededBy } = event;
      return { uploadId, field, ...(supersededBy !== undefined && { supersededBy }) };
    }
    case "submission.submitted":
    case "delivery.restarted":
      return { deliveryId: event.deliveryId };
    case "review.requested":
    case "review.escalated":
      return { gate: event.gate };
    case "review.approved":
      return {
        gate: event.gate,
        auto: event.auto,
        gatePassed: event.passed !== "no",
        ...(event.comment !== undefined && { comment: event.comment }),
      };
    case "review.rejected": {
      const { gate, reasons, fieldReasons } = event;
      return { gate, reasons, ...(fieldReasons && { fieldReasons }) };
    }
    case "review.reassigned": {
      const { ids = [], roles = [], emails = [] } = event.reviewers;
      // Only mails need the addresses.
      return { gate: event.gate, reason: event.reason, reviewers: { ids, roles, emails: emails.length } };
    }
    case "delivery.attempted":
      return { deliveryId: event.deliveryId, attempt: event.attempt };
    case "destination.changed":
      // Without the address: more people can read the history than may know it.
      return { kind: event.kind };
    case "delivery.succeeded":
      return { deliveryId: event.deliveryId, ...measured(event.result) };
    case "delivery.failed": {
      const { deliveryId, error, retryAt, result } = event;
      const next = retryAt === undefined ? { givenUp: true } : { nextAttemptAt: toIso(retryAt) };
      return { deliveryId, error, ...next, ...measured(result) };
    }
    case "submission.cancelled":
      return event.reason === undefined ? {} : { reason: event.reason };
    case "submission.expired":
      return {
        originalState: event.originalState,
        ttlMs: event.ttlMs,
        createdAt: toIso(event.createdAt),
        expiredAt: toIso(event.expiredAt),
      };
    case "submission.ttl_warning":
      return { expiresAt: toIso(event.expiresAt), remainingMs: event.remainingMs };
    case "submission.replayed":
      return {
        keyHash: event.ref.hash,
        operation: event.ref.operation,
        ...(event.originalEventId !== undefined && { originalEventId: event.originalEventId }),
        replayNumber: event.replayNumber,
      };
    case "handoff.link_issued": {
      const { handoffId, kind, allowedActors } = event;
      const named = allowedActors?.map((actor) => ({ kind: actor.kind, id: actor.id }));
      return { handoffId, kind, expiresAt: toIso(event.expiresAt), ...(named && { allowedActors: named }) };
    }
    case "handoff.completed":
      return { handoffId: event.handoffId, missingFields: event.missing };
    case "handoff.resumed":
      return { after: { kind: event.after.kind, id: event.after.id } };
  }
}
