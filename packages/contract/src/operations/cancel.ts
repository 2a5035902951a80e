import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { ResumeTokenSchema } from "../ids.ts";
import { InstantSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";

export const CancelRequest = closedObject(
  {
    reason: Type.Optional(Type.String({ maxLength: 2000 })),
    actor: Type.Optional(ActorInputSchema),
    resumeToken: Type.Optional(ResumeTokenSchema),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { examples: [{ reason: "No longer needed" }] },
);
export type CancelRequest = Static<typeof CancelRequest>;

export const CancelResponse = closedObject({
  ...submissionMark,
  cancelledAt: InstantSchema,
  cancelledBy: ActorSchema,
  reason: Type.Optional(Type.String()),
});
export type CancelResponse = Static<typeof CancelResponse>;
