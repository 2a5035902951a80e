import {
  EraseActorRequest,
  EraseActorResponse,
  EraseSubmissionRequest,
  EraseSubmissionResponse,
  ListEventsQuery,
  ListEventsResponse,
  ListSubmissionsQuery,
  ListSubmissionsResponse,
  ReassignReviewRequest,
  ReassignReviewResponse,
  ReviewRequest,
  ReviewResponse,
  TokenAdminRequest,
  TokenAdminResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { BY_KEY, WRITES_BY_KEY, writeCall } from "./shared.ts";

export const byKeyRoutes: Route[] = [
  {
    method: "POST",
    path: "/submissions/:ref/review",
    id: "review",
    summary: "Approve or reject",
    body: ReviewRequest,
    response: ReviewResponse,
    ...WRITES_BY_KEY,
    call: (operations, request) => {
      const { actor: _actor, ...verdict } = request.body as ReviewRequest;
      return operations.review({ ...writeCall(request), ...verdict });
    },
  },
  {
    method: "POST",
    path: "/submissions/:ref/review/reassign",
    id: "reassignReview",
    summary: "Name other reviewers for the waiting gate",
    body: ReassignReviewRequest,
    response: ReassignReviewResponse,
    ...WRITES_BY_KEY,
    call: (operations, request) => {
      const { reviewers, reason } = request.body as ReassignReviewRequest;
      return operations.reassignReview({ ...writeCall(request), reviewers, reason });
    },
  },
  {
    method: "POST",
    path: "/submissions/:ref/tokens/revoke",
    id: "revokeTokens",
    summary: "Revoke every token of a submission",
    body: TokenAdminRequest,
    response: TokenAdminResponse,
    ...WRITES_BY_KEY,
    call: (operations, request) => operations.revokeTokens(writeCall(request)),
  },
  {
    method: "POST",
    path: "/submissions/:ref/tokens/reissue",
    id: "reissueToken",
    summary: "Issue a new token and revoke the previous ones",
    body: TokenAdminRequest,
    response: TokenAdminResponse,
    ...WRITES_BY_KEY,
    call: (operations, request) => operations.reissueToken(writeCall(request)),
  },
  {
    method: "POST",
    path: "/submissions/:ref/erase",
    id: "eraseSubmission",
    summary: "Erase the values and names of an ended submission at once",
    body: EraseSubmissionRequest,
    response: EraseSubmissionResponse,
    ...WRITES_BY_KEY,
    call: (operations, request) => operations.eraseSubmission(writeCall(request)),
  },
  {
    method: "POST",
    path: "/erasures",
    id: "eraseActor",
    summary: "Erase everything about an actor, page by page",
    body: EraseActorRequest,
    response: EraseActorResponse,
    ...BY_KEY,
    call: (operations, { caller, body }) =>
      operations.eraseActor({ caller, request: body as unknown as EraseActorRequest }),
  },
  {
    method: "GET",
    path: "/submissions",
    id: "listSubmissions",
    summary: "List submissions, newest first",
    query: ListSubmissionsQuery,
    response: ListSubmissionsResponse,
    asCsv: true,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listSubmissions({ caller, query }),
  },
  {
    method: "GET",
    path: "/events",
    id: "listEvents",
    summary: "Follow the events of all submissions, in commit order",
    query: ListEventsQuery,
    response: ListEventsResponse,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listEvents({ caller, query }),
  },
];
