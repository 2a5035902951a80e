import Type, { type Static, type TArrayOptions, type TSchema } from "typebox";
import { closedObject } from "../closed-object.ts";
import { IntakeEventSchema } from "../events.ts";
import { SUBMISSION_STATES } from "../states.ts";
import { SubmissionSummarySchema } from "../submission.ts";

export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "50 by default." })),
  pageToken: Type.Optional(Type.String({ maxLength: 4096 })),
};
const pageEnd = {
  total: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "How many items the list had when its first page was read. Absent if counting what the caller may see would take reading every item.",
    }),
  ),
  totalIsEstimate: Type.Optional(
    Type.Literal(true, { description: "There are more than were counted: at least `total`." }),
  ),
  nextPageToken: Type.Optional(Type.String()),
};
/** The response with a page of a list. */
export const pageOf = <Item extends TSchema>(item: Item, options?: TArrayOptions) =>
  closedObject({ ok: Type.Literal(true), items: Type.Array(item, options), ...pageEnd });
export const range = {
  from: Type.Optional(Type.String({ format: "date-time", description: "Inclusive." })),
  until: Type.Optional(Type.String({ format: "date-time", description: "Exclusive." })),
};

export const ListSubmissionsQuery = closedObject({
  intakeId: Type.Optional(Type.String()),
  state: Type.Optional(Type.Enum([...SUBMISSION_STATES])),
  createdBy: Type.Optional(Type.String({ description: "An actor id." })),
  ...range,
  fields: Type.Optional(Type.Enum(["true", "false"], { description: "Adds the values." })),
  ...paging,
});
export type ListSubmissionsQuery = Static<typeof ListSubmissionsQuery>;

export const ListSubmissionsResponse = pageOf(SubmissionSummarySchema);
export type ListSubmissionsResponse = Static<typeof ListSubmissionsResponse>;

export const ListEventsQuery = closedObject({
  intakeId: Type.Optional(Type.String()),
  submissionId: Type.Optional(Type.String()),
  actorKind: Type.Optional(
    Type.Enum(["agent", "human", "system", "unknown"], {
      description: "Who caused the events. Erased actors never match.",
    }),
  ),
  stream: Type.Optional(Type.Enum(["submission", "token", "idempotency", "all"])),
  types: Type.Optional(Type.String()),
  ...range,
  ...paging,
});
export type ListEventsQuery = Static<typeof ListEventsQuery>;

export const ListEventsResponse = closedObject({
  ok: Type.Literal(true),
  items: Type.Array(IntakeEventSchema),
  nextPageToken: Type.Optional(Type.String()),
});
export type ListEventsResponse = Static<typeof ListEventsResponse>;
