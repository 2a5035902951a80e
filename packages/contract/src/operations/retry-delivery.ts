import type { Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { DeliveryStateSchema } from "../delivery-state.ts";
import { submissionMark } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const RetryDeliveryRequest = closedObject(writeMark, { examples: [{}] });
export type RetryDeliveryRequest = Static<typeof RetryDeliveryRequest>;

export const RetryDeliveryResponse = closedObject({ ...submissionMark, deliveryState: DeliveryStateSchema });
export type RetryDeliveryResponse = Static<typeof RetryDeliveryResponse>;
