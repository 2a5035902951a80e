import Type, { type Static } from "typebox";
import { IntakeEventSchema } from "../events.ts";
import { submissionMark } from "../submission.ts";

export const GetEventsQuery = Type.Object(
  {
    afterEventId: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "100 by default." })),
    stream: Type.Optional(Type.Enum(["submission", "token", "idempotency", "all"])),
    types: Type.Optional(Type.String({ description: "Event types, separated by commas." })),
    proof: Type.Optional(Type.Enum(["true", "false"], { description: "Adds salts and digests, to verify the chain." })),
  },
  { additionalProperties: false },
);
export type GetEventsQuery = Static<typeof GetEventsQuery>;

const { afterEventId, limit } = GetEventsQuery.properties;
/** For the holder of a review link: the submission's own stream. */
export const GetReviewEventsQuery = Type.Object({ afterEventId, limit }, { additionalProperties: false });
export type GetReviewEventsQuery = Static<typeof GetReviewEventsQuery>;

export const GetEventsResponse = Type.Object(
  {
    ...submissionMark,
    events: Type.Array(IntakeEventSchema),
    hasMore: Type.Boolean(),
    nextEventId: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type GetEventsResponse = Static<typeof GetEventsResponse>;
