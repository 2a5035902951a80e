import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { InstantSchema } from "../states.ts";
import { gateLabel, SubmissionRecordSchema, submissionMark } from "../submission.ts";
import { PresentationSchema } from "./get-submission-intake.ts";
import { pageOf, paging } from "./lists.ts";

export const ReviewRequest = closedObject(
  {
    decision: Type.Enum(["approved", "rejected"]),
    reasons: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), {
        maxItems: 50,
        description: "To reject, give these, fieldReasons, or both.",
      }),
    ),
    fieldReasons: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 500 }), Type.String({ minLength: 1, maxLength: 2000 }), {
        maxProperties: 50,
        description: "For a rejection: what to change, by dot-path.",
      }),
    ),
    comment: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2000, description: "For an approval: added to the history." }),
    ),
    actor: Type.Optional(ActorInputSchema),
  },
  { examples: [{ decision: "approved" }] },
);
export type ReviewRequest = Static<typeof ReviewRequest>;

export const ReviewResponse = closedObject({
  ...submissionMark,
  decision: Type.Enum(["approved", "rejected"]),
  reviewedAt: InstantSchema,
  reviewedBy: ActorSchema,
  reasons: Type.Optional(Type.Array(Type.String())),
  fieldReasons: Type.Optional(Type.Record(Type.String(), Type.String())),
  comment: Type.Optional(Type.String()),
  finalizedAt: Type.Optional(InstantSchema),
});
export type ReviewResponse = Static<typeof ReviewResponse>;

/** Why the holder of a link can't decide: they submitted it, have approved it, or no longer review at this gate. */
const BARRED = ["own_submission", "already_approved", "not_a_reviewer"] as const;

/** What a review link shows: the record with sensitive values in clear, how to render it, and what can be decided. */
export const ShowReviewResponse = closedObject({
  ...SubmissionRecordSchema.properties,
  intake: PresentationSchema,
  review: closedObject({
    gate: Type.String(),
    gateLabel,
    intake: Type.String({ description: "Its name." }),
    reviewer: Type.String({
      description: "The address that the link was mailed to: the person who decides with it.",
    }),
    decisions: Type.Array(Type.Enum(["approved", "rejected"]), { description: "Empty: see barred." }),
    barred: Type.Optional(Type.Enum([...BARRED], { description: "Why this person can't decide." })),
    expiresAt: InstantSchema,
  }),
});
export type ShowReviewResponse = Static<typeof ShowReviewResponse>;

export const ListReviewsQuery = closedObject({ intakeId: Type.Optional(Type.String()), ...paging });
export type ListReviewsQuery = Static<typeof ListReviewsQuery>;

export const ReviewItemSchema = closedObject({
  submissionId: Type.String(),
  intakeId: Type.String(),
  intakeName: Type.String(),
  version: Type.Integer(),
  gate: Type.String(),
  gateLabel,
  requestedAt: InstantSchema,
  escalated: Type.Optional(Type.Literal(true, { description: "The gate has waited too long." })),
  approvals: Type.Integer({ description: "How many there are." }),
  requiredApprovals: Type.Integer(),
  createdAt: InstantSchema,
  createdBy: ActorSchema,
  submittedBy: Type.Optional(ActorSchema),
});
export type ReviewItem = Static<typeof ReviewItemSchema>;

export const ListReviewsResponse = pageOf(ReviewItemSchema);
export type ListReviewsResponse = Static<typeof ListReviewsResponse>;
