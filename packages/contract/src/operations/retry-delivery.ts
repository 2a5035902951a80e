import Type, { type Static } from "typebox";
import { DeliveryStateSchema } from "../delivery-state.ts";
import { submissionMark } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const RetryDeliveryRequest = Type.Object(writeMark, { additionalProperties: false, examples: [{}] });
export type RetryDeliveryRequest = Static<typeof RetryDeliveryRequest>;

export const RetryDeliveryResponse = Type.Object(
  { ...submissionMark, deliveryState: DeliveryStateSchema },
  { additionalProperties: false },
);
export type RetryDeliveryResponse = Static<typeof RetryDeliveryResponse>;
