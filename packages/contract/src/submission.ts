import Type, { type Static } from "typebox";
import { ActorSchema } from "./actor.ts";
import { closedObject } from "./closed-object.ts";
import { DeliveryStateSchema } from "./delivery-state.ts";
import { FieldErrorSchema, NextActionSchema } from "./errors.ts";
import { InstantSchema, JsonObjectSchema, SubmissionStateSchema } from "./states.ts";

/** What every response about a submission contains. */
export const submissionMark = {
  ok: Type.Literal(true),
  submissionId: Type.String(),
  state: SubmissionStateSchema,
  version: Type.Integer({ minimum: 1, description: "Grows by one with every write." }),
  resumeToken: Type.Optional(Type.String({ description: "Only for callers who may hold it." })),
  resumeUrl: Type.Optional(
    Type.String({ description: "The form for that token, for a human's browser; present with resumeToken." }),
  ),
  tokenExpiresAt: Type.Optional(InstantSchema),
  warning: Type.Optional(
    Type.Object(
      {
        message: Type.String(),
        timeRemaining: Type.Integer(),
        nextActions: Type.Optional(Type.Array(NextActionSchema)),
      },
      { description: "In the token's last hour; and once it has expired, how to get a new one." },
    ),
  ),
  deliveryState: Type.Optional(DeliveryStateSchema),
};

export const missingFields = Type.Array(Type.String(), {
  description: "Dot-paths of required values that are absent.",
});
export const validationErrors = Type.Array(FieldErrorSchema, {
  description: "All problems, the missing ones included.",
});
export const idempotentMark = Type.Boolean({ description: "Present when a key was given; true on a replay." });

export const erasedAt = Type.String({
  format: "date-time",
  description: "When its values and names were erased.",
});

export const AttributionSchema = Type.Record(
  Type.String(),
  closedObject({ actor: ActorSchema, at: InstantSchema, version: Type.Integer() }),
  { description: "By field path: who set it, when, at which version." },
);

export const PendingUploadSchema = closedObject({
  field: Type.String(),
  uploadId: Type.String(),
  filename: Type.String(),
  sizeBytes: Type.Integer(),
  mimeType: Type.String(),
  requestedAt: InstantSchema,
});

export const FileLinkSchema = closedObject({
  field: Type.String(),
  uploadId: Type.String(),
  filename: Type.String(),
  mimeType: Type.String(),
  sizeBytes: Type.Integer(),
  sha256: Type.String(),
  url: Type.String({ description: "Downloads the file, until expiresAt. Needs no other credential." }),
  expiresAt: InstantSchema,
});
export type FileLink = Static<typeof FileLinkSchema>;

/** A rejection's reasons for single fields. */
const fieldReasons = Type.Record(Type.String(), Type.String(), { description: "By dot-path: what is wrong there." });

/** Shown next to a gate's name if its definition has a label. */
export const gateLabel = Type.Optional(Type.String({ description: "The gate's name for people." }));

export const RejectionSchema = closedObject({
  gate: Type.String(),
  gateLabel,
  reasons: Type.Array(Type.String()),
  fieldReasons: Type.Optional(fieldReasons),
  by: ActorSchema,
  at: InstantSchema,
  version: Type.Integer(),
});

export const ReviewStateSchema = closedObject({
  gate: Type.String(),
  gateLabel,
  requestedAt: InstantSchema,
  escalatedAt: Type.Optional(InstantSchema),
  reassignedAt: Type.Optional(InstantSchema),
  reviewers: Type.Array(Type.String(), { description: "Ids and roles; once escalated, also those of escalateTo." }),
  approvals: Type.Array(Type.Object({ by: ActorSchema, at: InstantSchema, comment: Type.Optional(Type.String()) })),
  requiredApprovals: Type.Integer(),
  decision: Type.Optional(Type.Enum(["approved", "rejected"])),
  decidedBy: Type.Optional(ActorSchema),
  decidedAt: Type.Optional(InstantSchema),
  reasons: Type.Optional(Type.Array(Type.String())),
  fieldReasons: Type.Optional(fieldReasons),
});

const activity = closedObject({ actor: ActorSchema, at: InstantSchema });
export const RecentActivitySchema = closedObject(
  { byAgent: Type.Optional(activity), byHuman: Type.Optional(activity) },
  { description: "Who wrote within the last 60 seconds." },
);

export const SubmissionRecordSchema = closedObject({
  ...submissionMark,
  intakeId: Type.String(),
  intakeVersion: Type.String(),
  fields: Type.Optional(JsonObjectSchema),
  schema: Type.Optional(JsonObjectSchema),
  attribution: Type.Optional(AttributionSchema),
  missingFields: Type.Optional(missingFields),
  validationErrors: Type.Optional(validationErrors),
  createdAt: InstantSchema,
  updatedAt: InstantSchema,
  originalTimestamp: InstantSchema,
  createdBy: ActorSchema,
  lastUpdatedBy: ActorSchema,
  replayCount: Type.Integer(),
  expiresAt: Type.Optional(InstantSchema),
  ttl: Type.Optional(Type.Object({ expiresAt: InstantSchema, remainingMs: Type.Integer() })),
  submittedAt: Type.Optional(InstantSchema),
  finalizedAt: Type.Optional(InstantSchema),
  cancelledAt: Type.Optional(InstantSchema),
  expiredAt: Type.Optional(InstantSchema),
  erasedAt: Type.Optional(erasedAt),
  pendingUploads: Type.Optional(Type.Array(PendingUploadSchema)),
  files: Type.Optional(
    Type.Array(FileLinkSchema, {
      description: "For reviewers, while the submission waits for their decision: its attachments.",
    }),
  ),
  rejections: Type.Optional(Type.Array(RejectionSchema)),
  reviewState: Type.Optional(ReviewStateSchema),
  recentActivity: Type.Optional(RecentActivitySchema),
  completedHandoff: Type.Optional(
    closedObject(
      { handoffId: Type.String(), completedAt: InstantSchema },
      { description: "The last hand-off that its human has completed." },
    ),
  ),
  _idempotent: Type.Optional(idempotentMark),
});
export type SubmissionRecord = Static<typeof SubmissionRecordSchema>;

/** A row of a list: without values unless requested. */
export const SubmissionSummarySchema = closedObject({
  submissionId: Type.String(),
  intakeId: Type.String(),
  state: SubmissionStateSchema,
  version: Type.Integer(),
  createdAt: InstantSchema,
  updatedAt: InstantSchema,
  expiresAt: Type.Optional(InstantSchema),
  erasedAt: Type.Optional(erasedAt),
  createdBy: ActorSchema,
  lastUpdatedBy: ActorSchema,
  missingCount: Type.Integer({ description: "How many required values are absent." }),
  fields: Type.Optional(JsonObjectSchema),
});
export type SubmissionSummary = Static<typeof SubmissionSummarySchema>;
