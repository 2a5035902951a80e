import type {
  Actor,
  FieldError,
  FileReference,
  HandoffKind,
  Json,
  JsonObject,
  SubmissionState,
} from "@formbridge/contract";
import { isMaskedAt, MASK, maskValue } from "./fields/mask.ts";
import type { CollectReason } from "./files/fate.ts";
import type { Hash } from "./hashing.ts";
import type { Instant } from "./instant.ts";
import { toIso } from "./instant.ts";
import type { CompiledIntake } from "./intake/compiled-intake.ts";
import type { Upload } from "./submission.ts";
import type { EditableState } from "./transitions.ts";

export interface Leaf {
  path: readonly string[];
  value: Json;
}

/** What happened, as the domain knows it: with the true values. `payloadOf` makes what the history shows. */
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
  | { type: "upload.collected"; uploadId: string; field: string; reason: CollectReason }
  | { type: "review.requested"; gateIndex: number; gate: string }
  | { type: "review.approved"; gateIndex: number; gate: string; auto: boolean; passed: "no" | "gate" | "all" }
  | { type: "review.rejected"; gate: string; reasons: string[]; expiresAt: Instant }
  | { type: "review.escalated"; gateIndex: number; gate: string }
  | { type: "delivery.attempted"; deliveryId: string; attempt: number }
  | { type: "delivery.succeeded"; deliveryId: string }
  | { type: "delivery.failed"; deliveryId: string; error: string; retryAt?: Instant }
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
  | { type: "submission.ttl_warning"; expiresAt: Instant; remainingMs: number }
  | { type: "submission.replayed"; operation: string; replayCount: number }
  | { type: "handoff.link_issued"; handoffId: string; kind: HandoffKind; expiresAt: Instant; allowedActors?: Actor[] }
  | { type: "handoff.resumed"; after: Actor }
);

const dotted = (path: readonly string[]): string => path.join(".");

function updatedFields(set: readonly Leaf[], intake: CompiledIntake): JsonObject {
  const leaves = set.map(({ path, value }) => ({ name: dotted(path), path, value }));
  leaves.sort((one, other) => (one.name < other.name ? -1 : 1));
  const shown: JsonObject = {};
  for (const { name, path, value } of leaves) shown[name] = maskValue(value, path, intake) as Json;
  return shown;
}

/**
 * What the history shows of an event: sensitive values masked. What every write tells has its keys in the order in which they are
 * hashed: then its text need not be put together key by key.
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
    case "validation.passed":
    case "submission.finalized":
    case "submission.erased":
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
    case "submission.submitted":
      return { deliveryId: event.deliveryId };
    case "review.requested":
      return { gate: event.gate };
    case "review.approved":
      return { gate: event.gate, auto: event.auto, gatePassed: event.passed !== "no" };
    case "review.rejected":
      return { gate: event.gate, reasons: event.reasons };
    case "review.escalated":
      return { gate: event.gate };
    case "delivery.attempted":
      return { deliveryId: event.deliveryId, attempt: event.attempt };
    case "delivery.succeeded":
      return { deliveryId: event.deliveryId };
    case "delivery.failed": {
      const { deliveryId, error, retryAt } = event;
      return { deliveryId, error, ...(retryAt === undefined ? { givenUp: true } : { nextAttemptAt: toIso(retryAt) }) };
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
      return { operation: event.operation, replayCount: event.replayCount };
    case "handoff.link_issued": {
      const { handoffId, kind, allowedActors } = event;
      const named = allowedActors?.map((actor) => ({ kind: actor.kind, id: actor.id }));
      return { handoffId, kind, expiresAt: toIso(event.expiresAt), ...(named && { allowedActors: named }) };
    }
    case "handoff.resumed":
      return { after: { kind: event.after.kind, id: event.after.id } };
  }
}
