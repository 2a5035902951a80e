import Type, { type Static } from "typebox";
import { ActorSchema } from "./actor.ts";
import { FieldErrorSchema } from "./errors.ts";
import { InstantSchema, JsonObjectSchema, SubmissionStateSchema } from "./states.ts";

/** What every answer about a submission carries. */
export const submissionMark = {
  ok: Type.Literal(true),
  submissionId: Type.String(),
  state: SubmissionStateSchema,
  version: Type.Integer({ minimum: 1, description: "Grows by one with every write." }),
  resumeToken: Type.Optional(Type.String({ description: "Only for those who may hold it." })),
  tokenExpiresAt: Type.Optional(InstantSchema),
  warning: Type.Optional(
    Type.Object(
      { message: Type.String(), timeRemaining: Type.Integer() },
      { description: "In the token's last hour." },
    ),
  ),
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
  description: "When its values and names were erased; they are gone.",
});

export const AttributionSchema = Type.Record(
  Type.String(),
  Type.Object({ actor: ActorSchema, at: InstantSchema, version: Type.Integer() }, { additionalProperties: false }),
  { description: "By field path: who set it, when, at which version." },
);

export const PendingUploadSchema = Type.Object(
  {
    field: Type.String(),
    uploadId: Type.String(),
    filename: Type.String(),
    sizeBytes: Type.Integer(),
    mimeType: Type.String(),
    requestedAt: InstantSchema,
  },
  { additionalProperties: false },
);

export const RejectionSchema = Type.Object(
  {
    gate: Type.String(),
    reasons: Type.Array(Type.String()),
    by: ActorSchema,
    at: InstantSchema,
    version: Type.Integer(),
  },
  { additionalProperties: false },
);

export const ReviewStateSchema = Type.Object(
  {
    gate: Type.String(),
    requestedAt: InstantSchema,
    escalatedAt: Type.Optional(InstantSchema),
    reviewers: Type.Array(Type.String(), { description: "Ids and roles; once escalated, those of escalateTo too." }),
    approvals: Type.Array(Type.Object({ by: ActorSchema, at: InstantSchema })),
    requiredApprovals: Type.Integer(),
    decision: Type.Optional(Type.Enum(["approved", "rejected"])),
    decidedBy: Type.Optional(ActorSchema),
    decidedAt: Type.Optional(InstantSchema),
    reasons: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
);

export const DeliveryStateSchema = Type.Object(
  {
    deliveryId: Type.String(),
    attemptCount: Type.Integer(),
    inFlight: Type.Optional(Type.Boolean()),
    lastAttemptAt: Type.Optional(InstantSchema),
    lastError: Type.Optional(Type.String()),
    nextAttemptAt: Type.Optional(InstantSchema),
    givenUp: Type.Optional(
      Type.Boolean({ description: "The last attempt has failed: it waits for somebody to start it again." }),
    ),
    deliveredAt: Type.Optional(InstantSchema),
  },
  { additionalProperties: false },
);

export const SubmissionRecordSchema = Type.Object(
  {
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
    rejections: Type.Optional(Type.Array(RejectionSchema)),
    reviewState: Type.Optional(ReviewStateSchema),
    deliveryState: Type.Optional(DeliveryStateSchema),
    _idempotent: Type.Optional(idempotentMark),
  },
  { additionalProperties: false },
);
export type SubmissionRecord = Static<typeof SubmissionRecordSchema>;

/** A row of a list: no values unless asked for. */
export const SubmissionSummarySchema = Type.Object(
  {
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
  },
  { additionalProperties: false },
);
export type SubmissionSummary = Static<typeof SubmissionSummarySchema>;
