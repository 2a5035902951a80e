import {
  GetEventsResponse,
  GetReviewEventsQuery,
  ListReviewsQuery,
  ListReviewsResponse,
  ReviewRequest,
  ReviewResponse,
  ShowReviewResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { BY_KEY, param } from "./shared.ts";

const LINK_ERRORS = [
  // For an invalid Authorization header; the link itself needs none.
  "unauthorized",
  "bad_request",
  "token_invalid",
  "token_expired",
  "expired",
  "cancelled",
  "rate_limited",
  "service_unavailable",
] as const;

export const reviewRoutes: Route[] = [
  {
    method: "GET",
    path: "/reviews",
    id: "listReviews",
    summary: "List what waits for this reviewer, oldest first",
    query: ListReviewsQuery,
    response: ListReviewsResponse,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listReviews({ caller, query }),
  },
  {
    method: "GET",
    path: "/reviews/:link",
    isLink: true,
    page: "review",
    id: "showReview",
    summary: "See what a review link is for; has no effect",
    response: ShowReviewResponse,
    opensWith: "link",
    errors: LINK_ERRORS,
    call: (operations, request) => operations.showReview({ caller: request.caller, secret: param(request, "link") }),
  },
  {
    method: "GET",
    path: "/reviews/:link/events",
    id: "getReviewEvents",
    summary: "Read the history of the submission to review; has no effect",
    query: GetReviewEventsQuery,
    response: GetEventsResponse,
    opensWith: "link",
    errors: LINK_ERRORS,
    call: (operations, request) =>
      operations.getReviewEvents({
        caller: request.caller,
        secret: param(request, "link"),
        query: request.query as GetReviewEventsQuery,
      }),
  },
  {
    method: "POST",
    path: "/reviews/:link",
    isLink: true,
    id: "reviewByLink",
    summary: "Approve or reject with a review link, once",
    body: ReviewRequest,
    response: ReviewResponse,
    opensWith: "link",
    errors: [...LINK_ERRORS, "forbidden", "conflict", "invalid"],
    call: (operations, request) => {
      const { caller, waitMs, body } = request;
      const secret = param(request, "link");
      return operations.reviewByLink({
        caller,
        secret,
        request: body as ReviewRequest,
        ...(waitMs !== undefined && { waitMs }),
      });
    },
  },
];
