import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { erasedAt, submissionMark } from "../submission.ts";

export const EraseSubmissionRequest = Type.Object(
  { actor: Type.Optional(ActorInputSchema) },
  { additionalProperties: false, examples: [{}] },
);
export type EraseSubmissionRequest = Static<typeof EraseSubmissionRequest>;

export const EraseSubmissionResponse = Type.Object({ ...submissionMark, erasedAt }, { additionalProperties: false });
export type EraseSubmissionResponse = Static<typeof EraseSubmissionResponse>;
