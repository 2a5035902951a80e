import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { ReviewerGroupSchema } from "../intake.ts";
import { ReviewStateSchema, submissionMark } from "../submission.ts";

export const ReassignReviewRequest = closedObject(
  {
    reviewers: ReviewerGroupSchema,
    reason: Type.String({ maxLength: 2000, description: "Why others decide; recorded with the event." }),
    actor: Type.Optional(ActorInputSchema),
  },
  { examples: [{ reviewers: { ids: ["dora"] }, reason: "Tara is on leave" }] },
);
export type ReassignReviewRequest = Static<typeof ReassignReviewRequest>;

export const ReassignReviewResponse = closedObject({ ...submissionMark, reviewState: ReviewStateSchema });
export type ReassignReviewResponse = Static<typeof ReassignReviewResponse>;
