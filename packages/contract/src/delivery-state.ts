import Type, { type Static } from "typebox";
import { closedObject } from "./closed-object.ts";
import { InstantSchema } from "./states.ts";

/** The state of a delivery, in every response about a submission that is being delivered. */
export const DeliveryStateSchema = closedObject({
  deliveryId: Type.String(),
  attemptCount: Type.Integer(),
  inFlight: Type.Optional(Type.Boolean()),
  lastAttemptAt: Type.Optional(InstantSchema),
  lastError: Type.Optional(Type.String()),
  nextAttemptAt: Type.Optional(InstantSchema),
  givenUp: Type.Optional(Type.Boolean({ description: "The last attempt failed. Start it again with retryDelivery." })),
  deliveredAt: Type.Optional(InstantSchema),
});
export type DeliveryState = Static<typeof DeliveryStateSchema>;
