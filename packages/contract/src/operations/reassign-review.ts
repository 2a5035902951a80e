import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { ReviewerGroupSchema } from "../intake.ts";
import { ReviewStateSchema, submissionMark } from "../submission.ts";

export const ReassignReviewRequest = Type.Object(
  {
    reviewers: ReviewerGroupSchema,
    reason: Type.String({ maxLength: 2000, description: "Why others decide; recorded with the event." }),
    actor: Type.Optional(ActorInputSchema),
  },
  { additionalProperties: false, examples: [{ reviewers: { ids: ["dora"] }, reason: "Tara is on leave" }] },
);
export type ReassignReviewRequest = Static<typeof ReassignReviewRequest>;

export const ReassignReviewResponse = Type.Object(
  { ...submissionMark, reviewState: ReviewStateSchema },
  { additionalProperties: false },
);
export type ReassignReviewResponse = Static<typeof ReassignReviewResponse>;
