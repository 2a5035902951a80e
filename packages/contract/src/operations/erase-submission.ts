import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { erasedAt, submissionMark } from "../submission.ts";

export const EraseSubmissionRequest = closedObject({ actor: Type.Optional(ActorInputSchema) }, { examples: [{}] });
export type EraseSubmissionRequest = Static<typeof EraseSubmissionRequest>;

export const EraseSubmissionResponse = closedObject({ ...submissionMark, erasedAt });
export type EraseSubmissionResponse = Static<typeof EraseSubmissionResponse>;
