import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { DeliveryStateSchema } from "../delivery-state.ts";
import { DestinationSchema } from "../intake.ts";
import { InstantSchema, SubmissionStateSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";
import { pageEnd, paging, range } from "./lists.ts";

export const DELIVERY_STANDINGS = ["pending", "in_flight", "dead", "delivered"] as const;

export const ListDeliveriesQuery = Type.Object(
  {
    state: Type.Optional(
      Type.Enum([...DELIVERY_STANDINGS], { description: "By default all that were not delivered yet." }),
    ),
    intakeId: Type.Optional(Type.String()),
    ...range,
    ...paging,
  },
  { additionalProperties: false },
);
export type ListDeliveriesQuery = Static<typeof ListDeliveriesQuery>;

const AttemptSchema = Type.Object(
  {
    at: InstantSchema,
    latencyMs: Type.Integer(),
    status: Type.Optional(Type.Integer({ description: "Only for receivers over HTTP." })),
    error: Type.Optional(Type.String({ description: "Absent if it was accepted." })),
    answer: Type.Optional(
      Type.String({ description: "The first kilobyte of the receiver's response, sensitive values masked." }),
    ),
  },
  { additionalProperties: false },
);

const DeliverySchema = Type.Object(
  {
    submissionId: Type.String(),
    intakeId: Type.String(),
    submissionState: SubmissionStateSchema,
    state: Type.Enum([...DELIVERY_STANDINGS]),
    deliveryState: DeliveryStateSchema,
    redirected: Type.Optional(Type.Literal(true, { description: "The destination was changed for this submission." })),
    attempts: Type.Array(AttemptSchema, { description: "The last ten, oldest first." }),
  },
  { additionalProperties: false },
);
export type DeliveryView = Static<typeof DeliverySchema>;

export const ListDeliveriesResponse = Type.Object(
  { ok: Type.Literal(true), items: Type.Array(DeliverySchema), ...pageEnd },
  { additionalProperties: false },
);
export type ListDeliveriesResponse = Static<typeof ListDeliveriesResponse>;

export const RetryDeliveriesRequest = Type.Object(
  {
    state: Type.Optional(Type.Enum(["dead", "pending"], { description: "dead by default." })),
    intakeId: Type.Optional(Type.String()),
    ...range,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "100 by default." })),
    actor: Type.Optional(ActorInputSchema),
  },
  { additionalProperties: false, examples: [{ state: "dead", intakeId: "contact" }] },
);
export type RetryDeliveriesRequest = Static<typeof RetryDeliveriesRequest>;

export const RetryDeliveriesResponse = Type.Object(
  {
    ok: Type.Literal(true),
    matched: Type.Integer(),
    restarted: Type.Integer(),
    skipped: Type.Integer({ description: "They changed meanwhile." }),
    more: Type.Boolean({ description: "This call may not have covered all: call again." }),
  },
  { additionalProperties: false },
);
export type RetryDeliveriesResponse = Static<typeof RetryDeliveriesResponse>;

export const ChangeDestinationRequest = Type.Object(
  { destination: DestinationSchema, actor: Type.Optional(ActorInputSchema) },
  {
    additionalProperties: false,
    examples: [{ destination: { kind: "webhook", url: "https://example.com/hooks/orders" } }],
  },
);
export type ChangeDestinationRequest = Static<typeof ChangeDestinationRequest>;

export const ChangeDestinationResponse = Type.Object(
  {
    ...submissionMark,
    destination: Type.Object(
      { kind: Type.String(), url: Type.Optional(Type.String()), name: Type.Optional(Type.String()) },
      { additionalProperties: false, description: "Without credentials, query, headers and secret." },
    ),
  },
  { additionalProperties: false },
);
export type ChangeDestinationResponse = Static<typeof ChangeDestinationResponse>;
