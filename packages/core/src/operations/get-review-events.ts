import type { GetEventsResponse, GetReviewEventsQuery } from "@formbridge/contract";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { eventsPage } from "./get-events.ts";
import { withReviewLink } from "./links/review-link.ts";
import type { OperationResponse } from "./read/response.ts";

/** A submission's history for the holder of a review link, without the token stream. Doesn't use the link up. */
export async function getReviewEvents(
  context: Context,
  { query, ...call }: { caller: Caller; secret: string; query: GetReviewEventsQuery },
): Promise<OperationResponse<GetEventsResponse>> {
  const filter = { streams: ["submission"] as const };
  return await withReviewLink(context, call, (found) =>
    eventsPage(context, { query, filter, callers: false }, { ...found, held: {} }),
  );
}
