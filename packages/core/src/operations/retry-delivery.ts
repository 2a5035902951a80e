import type { RetryDeliveryResponse } from "@formbridge/contract";
import { decideRetryDelivery } from "../domain/decide/deliver.ts";
import { deliveryState } from "../domain/delivery/delivery-state.ts";
import { ContractError } from "../domain/error.ts";
import type { Context } from "./context.ts";
import { mayHoldToken } from "./identity/access.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export async function retryDelivery(
  context: Context,
  call: WriteCall,
): Promise<OperationResponse<RetryDeliveryResponse>> {
  return await runWrite(context, call, {
    operation: "retryDelivery",
    actorRequired: true,
    actsOnLocked: true,
    needsNoVersion: true,
    authorize({ token, principal, submission }) {
      if (token !== undefined || mayHoldToken(principal, submission)) return;
      throw new ContractError(
        "forbidden",
        "Restarting a delivery needs the resume token, or the key of the creator or an admin.",
      );
    },
    decide: decideRetryDelivery,
    body(shown) {
      const { delivery } = shown.submission;
      if (delivery === undefined) throw new Error("a delivery was retried although none had been started");
      return { ...markOf(shown), deliveryState: deliveryState(delivery) };
    },
  });
}
