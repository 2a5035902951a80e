import type { RetryDeliveriesRequest, RetryDeliveriesResponse } from "@formbridge/contract";
import { decideRetryDelivery } from "../domain/decide/deliver.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { recordedActor } from "./identity/actors.ts";
import { requirePrincipal } from "./identity/authenticate.ts";
import { filterFor, findDeliveries } from "./list-deliveries.ts";
import type { OperationResponse } from "./read/response.ts";
import { actOnLatest } from "./write/act-on-latest.ts";

const DEFAULT_LIMIT = 100;

/** Restarts all matching deliveries, up to a limit per call; each gets its own event. */
export async function retryDeliveries(
  context: Context,
  { caller, request }: { caller: Caller; request: RetryDeliveriesRequest },
): Promise<OperationResponse<RetryDeliveriesResponse>> {
  const principal = await requirePrincipal(context.deps, caller, "admin");
  const { state: deliveryState = "dead", limit = DEFAULT_LIMIT, actor: given, ...rest } = request;
  const actor = recordedActor(principal, given, { required: false });
  const filter = filterFor(principal, rest);
  const { items, next } = await findDeliveries(context.deps, { filter, deliveryState, limit });
  let restarted = 0;
  for (const { submission } of items) {
    const done = await actOnLatest(context, submission, {
      operation: "retryDelivery",
      actor,
      decide({ submission: latest, now }) {
        const decision = decideRetryDelivery(latest, { now });
        // Someone was faster: it is in progress or done.
        const isWanted =
          decision.refusal === undefined && (deliveryState !== "dead" || latest.delivery?.givenUp === true);
        return isWanted ? { decision } : undefined;
      },
    });
    if (done !== undefined) restarted += 1;
  }
  const matched = items.length;
  return { body: { ok: true, matched, restarted, skipped: matched - restarted, more: next !== undefined } };
}
