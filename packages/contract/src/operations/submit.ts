import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { IdempotencyKeySchema } from "../ids.ts";
import { InstantSchema, JsonObjectSchema } from "../states.ts";
import { idempotentMark, submissionMark } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const SubmitRequest = closedObject(
  {
    ...writeMark,
    idempotencyKey: Type.Optional(IdempotencyKeySchema),
  },
  {
    description: "The idempotency key is required, in the body or as the header.",
    examples: [{ actor: { kind: "agent", id: "support_bot" }, idempotencyKey: "submit-ada-1" }],
  },
);
export type SubmitRequest = Static<typeof SubmitRequest>;

export const SubmitResponse = closedObject({
  ...submissionMark,
  fields: JsonObjectSchema,
  submittedAt: InstantSchema,
  finalizedAt: Type.Optional(InstantSchema),
  _idempotent: Type.Optional(idempotentMark),
});
export type SubmitResponse = Static<typeof SubmitResponse>;
