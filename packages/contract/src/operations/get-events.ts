import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { IntakeEventSchema } from "../events.ts";
import { submissionMark } from "../submission.ts";

export const GetEventsQuery = closedObject({
  afterEventId: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "100 by default." })),
  stream: Type.Optional(Type.Enum(["submission", "token", "idempotency", "all"])),
  types: Type.Optional(Type.String({ description: "Event types, separated by commas." })),
  proof: Type.Optional(Type.Enum(["true", "false"], { description: "Adds salts and digests, to verify the chain." })),
});
export type GetEventsQuery = Static<typeof GetEventsQuery>;

const { afterEventId, limit } = GetEventsQuery.properties;
/** For the holder of a review link: the submission's own stream. */
export const GetReviewEventsQuery = closedObject({ afterEventId, limit });
export type GetReviewEventsQuery = Static<typeof GetReviewEventsQuery>;

export const GetEventsResponse = closedObject({
  ...submissionMark,
  events: Type.Array(IntakeEventSchema),
  hasMore: Type.Boolean(),
  nextEventId: Type.Optional(Type.String()),
});
export type GetEventsResponse = Static<typeof GetEventsResponse>;
