import type { DeliveryView, ListDeliveriesQuery, ListDeliveriesResponse } from "@formbridge/contract";
import { deliveryState } from "../domain/delivery/delivery-state.ts";
import { toIso } from "../domain/instant.ts";
import type { Delivery, Submission } from "../domain/submission.ts";
import type { SubmissionFilter } from "../ports/submissions.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import type { Deps } from "./deps.ts";
import { intakesFor, requirePrincipal } from "./identity/authenticate.ts";
import { boundToExcerpt } from "./read/open-snapshot.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";

const LIST = "deliveries";
/** Dead deliveries may be rare among waiting ones: return a short page rather than scan forever. */
const MAX_LOOKS = 5;
const LOOK = 200;

type DeliveryState = DeliveryView["state"];
export interface Undelivered {
  submission: Submission;
  delivery: Delivery;
}

export async function listDeliveries(
  { deps }: Context,
  call: { caller: Caller; query: ListDeliveriesQuery },
): Promise<OperationResponse<ListDeliveriesResponse>> {
  const principal = await requirePrincipal(deps, call.caller, "admin");
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { query, after, limit } = page;
  const found = await findDeliveries(deps, {
    filter: filterFor(principal, query),
    ...wanted(query),
    limit,
    before: after,
  });
  const items = found.items.map((one) => deliveryView(deps, one));
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: found.next, shown: items.length })) } };
}

const wanted = ({ state }: { state?: string }): { deliveryState?: DeliveryState } =>
  state === undefined ? {} : { deliveryState: state as DeliveryState };

export interface DeliverySearch {
  filter: SubmissionFilter;
  deliveryState?: DeliveryState;
  limit: number;
  before?: string | undefined;
}

/** Newest first, as many as requested or found in a limited number of reads; `next` is where to continue. */
export async function findDeliveries(
  { backend }: Deps,
  { filter, deliveryState, limit, before }: DeliverySearch,
): Promise<{ items: Undelivered[]; next?: string }> {
  const items: Undelivered[] = [];
  let last = before;
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const rows = await backend.submissions.list(filter, { limit: LOOK, ...(last !== undefined && { before: last }) });
    for (const { submission } of rows) {
      if (items.length === limit) return { items, ...(last !== undefined && { next: last }) };
      last = submission.submissionId;
      const { delivery } = submission;
      if (
        delivery === undefined ||
        (deliveryState !== undefined && deliveryStateOf(submission, delivery) !== deliveryState)
      )
        continue;
      // A submission kept here (`store`) was never delivered.
      if (submission.state === "finalized" && delivery.deliveredAt === undefined) continue;
      items.push({ submission, delivery });
    }
    if (rows.length < LOOK) return { items };
  }
  return { items, ...(last !== undefined && { next: last }) };
}

export function filterFor(principal: Principal, query: Record<string, string | undefined>): SubmissionFilter {
  const { intakeId, state, from, until } = query;
  const intakeIds = intakesFor(principal, intakeId);
  return {
    tenant: principal.tenant,
    states: state === "delivered" ? ["finalized"] : ["submitted", "approved"],
    ...(intakeIds && { intakeIds }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  };
}

function deliveryStateOf({ state }: Submission, { inFlight, givenUp }: Delivery): DeliveryState {
  if (state === "finalized") return "delivered";
  if (givenUp === true) return "dead";
  return inFlight === true ? "in_flight" : "pending";
}

function deliveryView({ sealer }: Deps, { submission, delivery }: Undelivered): DeliveryView {
  return {
    submissionId: submission.submissionId,
    intakeId: submission.intakeId,
    submissionState: submission.state,
    state: deliveryStateOf(submission, delivery),
    deliveryState: deliveryState(delivery),
    ...(submission.destination !== undefined && { redirected: true as const }),
    attempts: (delivery.attempts ?? []).map(({ at, answer, ...attempt }) => ({
      at: toIso(at),
      ...attempt,
      ...(answer !== undefined && { answer: sealer.open(answer, boundToExcerpt(submission)) }),
    })),
  };
}
