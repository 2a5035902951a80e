import { ListReviewsQuery, ListReviewsResponse } from "@formbridge/contract";
import type { Route } from "../route.ts";
import { ADMIN_ERRORS } from "./shared.ts";

export const reviewRoutes: Route[] = [
  {
    method: "GET",
    path: "/reviews",
    id: "listReviews",
    summary: "List what waits for this reviewer, oldest first",
    query: ListReviewsQuery,
    response: ListReviewsResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, query }) => operations.listReviews({ caller, query }),
  },
];
