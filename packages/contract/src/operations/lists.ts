import Type, { type Static } from "typebox";
import { IntakeEventSchema } from "../events.ts";
import { SUBMISSION_STATES } from "../states.ts";
import { SubmissionSummarySchema } from "../submission.ts";

export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "50 by default." })),
  pageToken: Type.Optional(Type.String({ maxLength: 4096 })),
};
export const pageEnd = {
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
export const range = {
  from: Type.Optional(Type.String({ format: "date-time", description: "Inclusive." })),
  until: Type.Optional(Type.String({ format: "date-time", description: "Exclusive." })),
};

export const ListSubmissionsQuery = Type.Object(
  {
    intakeId: Type.Optional(Type.String()),
    state: Type.Optional(Type.Enum([...SUBMISSION_STATES])),
    createdBy: Type.Optional(Type.String({ description: "An actor id." })),
    ...range,
    fields: Type.Optional(Type.Enum(["true", "false"], { description: "Adds the values." })),
    ...paging,
  },
  { additionalProperties: false },
);
export type ListSubmissionsQuery = Static<typeof ListSubmissionsQuery>;

export const ListSubmissionsResponse = Type.Object(
  {
    ok: Type.Literal(true),
    items: Type.Array(SubmissionSummarySchema),
    ...pageEnd,
  },
  { additionalProperties: false },
);
export type ListSubmissionsResponse = Static<typeof ListSubmissionsResponse>;

export const ListEventsQuery = Type.Object(
  {
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
  },
  { additionalProperties: false },
);
export type ListEventsQuery = Static<typeof ListEventsQuery>;

export const ListEventsResponse = Type.Object(
  { ok: Type.Literal(true), items: Type.Array(IntakeEventSchema), nextPageToken: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
export type ListEventsResponse = Static<typeof ListEventsResponse>;
