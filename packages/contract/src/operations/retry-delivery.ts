import Type, { type Static } from "typebox";
import { ActorInputSchema } from "../actor.ts";
import { DeliveryStateSchema, submissionMark } from "../submission.ts";

export const RetryDeliveryRequest = Type.Object(
  { actor: Type.Optional(ActorInputSchema) },
  { additionalProperties: false, examples: [{}] },
);
export type RetryDeliveryRequest = Static<typeof RetryDeliveryRequest>;

export const RetryDeliveryResponse = Type.Object(
  { ...submissionMark, deliveryState: DeliveryStateSchema },
  { additionalProperties: false },
);
export type RetryDeliveryResponse = Static<typeof RetryDeliveryResponse>;
