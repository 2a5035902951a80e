import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { DeliveryStateSchema } from "../delivery-state.ts";
import { DestinationSchema } from "../intake.ts";
import { InstantSchema, SubmissionStateSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";
import { pageOf, paging, range } from "./lists.ts";

export const DELIVERY_STANDINGS = ["pending", "in_flight", "dead", "delivered"] as const;

export const ListDeliveriesQuery = closedObject({
  state: Type.Optional(
    Type.Enum([...DELIVERY_STANDINGS], { description: "By default all that were not delivered yet." }),
  ),
  intakeId: Type.Optional(Type.String()),
  ...range,
  ...paging,
});
export type ListDeliveriesQuery = Static<typeof ListDeliveriesQuery>;

const AttemptSchema = closedObject({
  at: InstantSchema,
  latencyMs: Type.Integer(),
  status: Type.Optional(Type.Integer({ description: "Only for receivers over HTTP." })),
  error: Type.Optional(Type.String({ description: "Absent if it was accepted." })),
  answer: Type.Optional(
    Type.String({ description: "The first kilobyte of the receiver's response, sensitive values masked." }),
  ),
});

const DeliverySchema = closedObject({
  submissionId: Type.String(),
  intakeId: Type.String(),
  submissionState: SubmissionStateSchema,
  state: Type.Enum([...DELIVERY_STANDINGS]),
  deliveryState: DeliveryStateSchema,
  redirected: Type.Optional(Type.Literal(true, { description: "The destination was changed for this submission." })),
  attempts: Type.Array(AttemptSchema, { description: "The last ten, oldest first." }),
});
export type DeliveryView = Static<typeof DeliverySchema>;

export const ListDeliveriesResponse = pageOf(DeliverySchema);
export type ListDeliveriesResponse = Static<typeof ListDeliveriesResponse>;

export const RetryDeliveriesRequest = closedObject(
  {
    state: Type.Optional(Type.Enum(["dead", "pending"], { description: "dead by default." })),
    intakeId: Type.Optional(Type.String()),
    ...range,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "100 by default." })),
    actor: Type.Optional(ActorInputSchema),
  },
  { examples: [{ state: "dead", intakeId: "contact" }] },
);
export type RetryDeliveriesRequest = Static<typeof RetryDeliveriesRequest>;

export const RetryDeliveriesResponse = closedObject({
  ok: Type.Literal(true),
  matched: Type.Integer(),
  restarted: Type.Integer(),
  skipped: Type.Integer({ description: "They changed meanwhile." }),
  more: Type.Boolean({ description: "There may be more to restart: call again." }),
});
export type RetryDeliveriesResponse = Static<typeof RetryDeliveriesResponse>;

export const ChangeDestinationRequest = closedObject(
  { destination: DestinationSchema, actor: Type.Optional(ActorInputSchema) },
  { examples: [{ destination: { kind: "webhook", url: "https://example.com/hooks/orders" } }] },
);
export type ChangeDestinationRequest = Static<typeof ChangeDestinationRequest>;

export const ChangeDestinationResponse = closedObject({
  ...submissionMark,
  destination: closedObject(
    { kind: Type.String(), url: Type.Optional(Type.String()), name: Type.Optional(Type.String()) },
    { description: "Without credentials, query, headers and secret." },
  ),
});
export type ChangeDestinationResponse = Static<typeof ChangeDestinationResponse>;
