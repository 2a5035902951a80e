import Type, { type Static } from "typebox";
import { IdempotencyKeySchema } from "../ids.ts";
import { InstantSchema, JsonObjectSchema } from "../states.ts";
import { idempotentMark, submissionMark } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const SubmitRequest = Type.Object(
  {
    ...writeMark,
    idempotencyKey: Type.Optional(IdempotencyKeySchema),
  },
  {
    additionalProperties: false,
    description: "The idempotency key is required, in the body or as the header.",
    examples: [{ actor: { kind: "agent", id: "support_bot" }, idempotencyKey: "submit-ada-1" }],
  },
);
export type SubmitRequest = Static<typeof SubmitRequest>;

export const SubmitResponse = Type.Object(
  {
    ...submissionMark,
    fields: JsonObjectSchema,
    submittedAt: InstantSchema,
    finalizedAt: Type.Optional(InstantSchema),
    _idempotent: Type.Optional(idempotentMark),
  },
  { additionalProperties: false },
);
export type SubmitResponse = Static<typeof SubmitResponse>;
