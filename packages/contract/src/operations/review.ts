import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { InstantSchema } from "../states.ts";
import { SubmissionRecordSchema, submissionMark } from "../submission.ts";
import { paging } from "./lists.ts";

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

/** What a review link shows: the record, sensitive values masked, and what can be decided. */
export const ShowReviewResponse = Type.Object(
  {
    ...SubmissionRecordSchema.properties,
    review: Type.Object(
      {
        gate: Type.String(),
        intake: Type.String({ description: "Its name." }),
        reviewer: Type.String({ description: "The address that the link was mailed to: whoever decides by it." }),
        decisions: Type.Array(Type.Enum(["approved", "rejected"])),
        expiresAt: InstantSchema,
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
export type ShowReviewResponse = Static<typeof ShowReviewResponse>;

export const ListReviewsQuery = Type.Object(
  { intakeId: Type.Optional(Type.String()), ...paging },
  { additionalProperties: false },
);
export type ListReviewsQuery = Static<typeof ListReviewsQuery>;

export const ReviewItemSchema = Type.Object(
  {
    submissionId: Type.String(),
    intakeId: Type.String(),
    version: Type.Integer(),
    gate: Type.String(),
    requestedAt: InstantSchema,
    escalated: Type.Optional(Type.Literal(true, { description: "The gate has waited too long." })),
    approvals: Type.Integer({ description: "How many there are." }),
    requiredApprovals: Type.Integer(),
    createdAt: InstantSchema,
    createdBy: ActorSchema,
    submittedBy: Type.Optional(ActorSchema),
  },
  { additionalProperties: false },
);
export type ReviewItem = Static<typeof ReviewItemSchema>;

export const ListReviewsResponse = Type.Object(
  { ok: Type.Literal(true), items: Type.Array(ReviewItemSchema), nextPageToken: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
export type ListReviewsResponse = Static<typeof ListReviewsResponse>;
