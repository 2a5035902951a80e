import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { InstantSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";

export const ReviewRequest = Type.Object(
  {
    decision: Type.Enum(["approved", "rejected"]),
    reasons: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { maxItems: 50, description: "Needed to reject." }),
    ),
    actor: Type.Optional(ActorInputSchema),
  },
  { additionalProperties: false, examples: [{ decision: "approved" }] },
);
export type ReviewRequest = Static<typeof ReviewRequest>;

export const ReviewResponse = Type.Object(
  {
    ...submissionMark,
    decision: Type.Enum(["approved", "rejected"]),
    reviewedAt: InstantSchema,
    reviewedBy: ActorSchema,
    reasons: Type.Optional(Type.Array(Type.String())),
    finalizedAt: Type.Optional(InstantSchema),
  },
  { additionalProperties: false },
);
export type ReviewResponse = Static<typeof ReviewResponse>;
