import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { ResumeTokenSchema } from "../ids.ts";
import { InstantSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";

export const CancelRequest = Type.Object(
  {
    reason: Type.Optional(Type.String({ maxLength: 2000 })),
    actor: Type.Optional(ActorInputSchema),
    resumeToken: Type.Optional(ResumeTokenSchema),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false, examples: [{ reason: "No longer needed" }] },
);
export type CancelRequest = Static<typeof CancelRequest>;

export const CancelResponse = Type.Object(
  {
    ...submissionMark,
    cancelledAt: InstantSchema,
    cancelledBy: ActorSchema,
    reason: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type CancelResponse = Static<typeof CancelResponse>;
