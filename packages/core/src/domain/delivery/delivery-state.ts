import type { DeliveryState } from "@formbridge/contract";
import { when } from "../instant.ts";
import type { Delivery, Submission } from "../submission.ts";

/** A delivery as shown in responses. */
export const deliveryState = (delivery: Delivery): DeliveryState => ({
  deliveryId: delivery.deliveryId,
  attemptCount: delivery.attemptCount,
  ...(delivery.inFlight === true && { inFlight: true }),
  ...when("lastAttemptAt", delivery.lastAttemptAt),
  ...(delivery.lastError !== undefined && { lastError: delivery.lastError }),
  ...when("nextAttemptAt", delivery.nextAttemptAt),
  ...(delivery.givenUp === true && { givenUp: true }),
  ...when("deliveredAt", delivery.deliveredAt),
});

/** For every response and refusal: the delivery, once there is one. */
export function deliveryMark({ state, delivery }: Submission): { deliveryState?: DeliveryState } {
  if (delivery === undefined) return {};
  const isUnderWay = state === "submitted" || state === "approved" || delivery.attemptCount > 0;
  return isUnderWay ? { deliveryState: deliveryState(delivery) } : {};
}
