import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { IdempotencyKeySchema, ResumeTokenSchema, SubmissionIdSchema } from "../ids.ts";
import { InstantSchema, JsonObjectSchema } from "../states.ts";
import { idempotentMark, missingFields, submissionMark, validationErrors } from "../submission.ts";

/** Names the state that a write is based on. If several are given, they must agree. */
export const writeMark = {
  submissionId: Type.Optional(SubmissionIdSchema),
  resumeToken: Type.Optional(ResumeTokenSchema),
  version: Type.Optional(Type.Integer({ minimum: 1, description: "When given, must be the current version." })),
  actor: Type.Optional(ActorInputSchema),
};

export const SetFieldsRequest = closedObject(
  {
    ...writeMark,
    fields: Type.Record(Type.String(), Type.Unknown(), {
      description: "A JSON Merge Patch; a key may also be a dot-path.",
      examples: [{ "address.city": "Paris", phone: null }],
    }),
    idempotencyKey: Type.Optional(IdempotencyKeySchema),
  },
  { examples: [{ actor: { kind: "human", id: "ada" }, fields: { email: "ada@example.com" } }] },
);
export type SetFieldsRequest = Static<typeof SetFieldsRequest>;

export const SetFieldsResponse = closedObject({
  ...submissionMark,
  fields: JsonObjectSchema,
  updatedFields: Type.Array(Type.String()),
  missingFields,
  validationErrors,
  updatedAt: InstantSchema,
  _idempotent: Type.Optional(idempotentMark),
});
export type SetFieldsResponse = Static<typeof SetFieldsResponse>;
