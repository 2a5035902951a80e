import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { IdempotencyKeySchema, IntakeIdSchema } from "../ids.ts";
import { InstantSchema, JsonObjectSchema } from "../states.ts";
import { idempotentMark, missingFields, submissionMark, validationErrors } from "../submission.ts";

export const CreateSubmissionRequest = closedObject(
  {
    intakeId: Type.Optional(IntakeIdSchema),
    actor: Type.Optional(ActorInputSchema),
    initialFields: Type.Optional(JsonObjectSchema),
    ttlMs: Type.Optional(Type.Integer({ description: "1 minute to 1 year.", examples: [86_400_000] })),
    idempotencyKey: Type.Optional(IdempotencyKeySchema),
  },
  { examples: [{ actor: { kind: "agent", id: "support_bot" }, initialFields: { name: "Ada", topic: "billing" } }] },
);
export type CreateSubmissionRequest = Static<typeof CreateSubmissionRequest>;

export const CreateSubmissionResponse = closedObject({
  ...submissionMark,
  intakeId: Type.String(),
  schema: JsonObjectSchema,
  fields: JsonObjectSchema,
  missingFields,
  validationErrors,
  expiresAt: Type.Optional(InstantSchema),
  replayCount: Type.Integer(),
  originalTimestamp: InstantSchema,
  _idempotent: Type.Optional(idempotentMark),
});
export type CreateSubmissionResponse = Static<typeof CreateSubmissionResponse>;
