import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { InstantSchema } from "../states.ts";
import { gateLabel, SubmissionRecordSchema, submissionMark } from "../submission.ts";
import { PresentationSchema } from "./get-submission-intake.ts";
import { pageEnd, paging } from "./lists.ts";

export const ReviewRequest = Type.Object(
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
    fieldReasons: Type.Optional(Type.Record(Type.String(), Type.String())),
    comment: Type.Optional(Type.String()),
    finalizedAt: Type.Optional(InstantSchema),
  },
  { additionalProperties: false },
);
export type ReviewResponse = Static<typeof ReviewResponse>;

/** Why the holder of a link can't decide: they submitted it, have approved it, or no longer review at this gate. */
const BARRED = ["own_submission", "already_approved", "not_a_reviewer"] as const;

/** What a review link shows: the record with sensitive values in clear, how to render it, and what can be decided. */
export const ShowReviewResponse = Type.Object(
  {
    ...SubmissionRecordSchema.properties,
    intake: PresentationSchema,
    review: Type.Object(
      {
        gate: Type.String(),
        gateLabel,
        intake: Type.String({ description: "Its name." }),
        reviewer: Type.String({
          description: "The address that the link was mailed to: the person who decides with it.",
        }),
        decisions: Type.Array(Type.Enum(["approved", "rejected"]), { description: "Empty: see barred." }),
        barred: Type.Optional(Type.Enum([...BARRED], { description: "Why this person can't decide." })),
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
  },
  { additionalProperties: false },
);
export type ReviewItem = Static<typeof ReviewItemSchema>;

export const ListReviewsResponse = Type.Object(
  { ok: Type.Literal(true), items: Type.Array(ReviewItemSchema), ...pageEnd },
  { additionalProperties: false },
);
export type ListReviewsResponse = Static<typeof ListReviewsResponse>;
