import type { Destination } from "@formbridge/contract";
import type { Courier, OutgoingDelivery, Receipt } from "@formbridge/core";

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export const outgoingTo = (destination: Destination, more: Partial<OutgoingDelivery> = {}): OutgoingDelivery => ({
  deliveryId: "dlv_0199-1",
  tenant: "default",
  intakeId: "orders",
  submissionId: "sub_0199-1",
  destination,
  body: JSON.stringify({ text: "Zoë ☂" }),
  submittedAt: Date.UTC(2026, 0, 1),
  attempt: 1,
  secrets: [SECRET],
  ...more,
});

export const sendTo = (
  courier: Courier,
  destination: Destination,
  more: Partial<OutgoingDelivery> = {},
): Promise<Receipt> => courier.send(outgoingTo(destination, more), new AbortController().signal);
