import type { RetryDeliveryResponse } from "@formbridge/contract";
import { decideRetryDelivery } from "../domain/decide/deliver.ts";
import { ContractError } from "../domain/error.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { deliveryState } from "./support/record.ts";
import { mayHoldToken } from "./support/resolve-target.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export async function retryDelivery(context: Context, call: WriteCall): Promise<Answer<RetryDeliveryResponse>> {
  return await runWrite(context, call, {
    operation: "retryDelivery",
    actorRequired: true,
    actsOnLocked: true,
    needsNoVersion: true,
    authorize({ principal, submission }) {
      if (!mayHoldToken(principal, submission)) throw new ContractError("forbidden", "This key may not retry.");
    },
    decide: (submission, decideContext) => decideRetryDelivery(submission, decideContext),
    body(shown) {
      const { delivery } = shown.submission;
      if (delivery === undefined) throw new Error("a delivery was retried that nobody had started");
      return { ...markOf(shown), deliveryState: deliveryState(delivery) };
    },
  });
}
