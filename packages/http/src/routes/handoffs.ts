import {
  CompleteHandoffRequest,
  CompleteHandoffResponse,
  CreateHandoffRequest,
  CreateHandoffResponse,
  GetSubmissionQuery,
  GetSubmissionResponse,
  ListAllHandoffsQuery,
  ListAllHandoffsResponse,
  ListHandoffsResponse,
  OpenSessionRequest,
  OpenSessionResponse,
  ResumeByQueryQuery,
  RevokeHandoffRequest,
  RevokeHandoffResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { BY_KEY, param, READ_ERRORS, readSubmission, WRITE_ERRORS, writeCall } from "./shared.ts";

const complete = {
  method: "POST",
  body: CompleteHandoffRequest,
  response: CompleteHandoffResponse,
  opensWith: "session",
  errors: WRITE_ERRORS,
} as const;

/** For someone in a session or with a direct link, to say "my part is done". */
const completeRoutes: Route[] = [
  {
    ...complete,
    path: "/submissions/:ref/handoffs/:handoffId/complete",
    id: "completeHandoff",
    opensWith: "token or session",
    summary: "Say that the human's part is done",
    call: (operations, request) =>
      operations.completeHandoff({ ...writeCall(request), handoffId: param(request, "handoffId") }),
  },
  {
    ...complete,
    path: "/submissions/:ref/sessions/complete",
    id: "completeOwnHandoff",
    summary: "Say that the human's part is done, in the session's own hand-off",
    call: (operations, request) => operations.completeHandoff(writeCall(request)),
  },
];

/** Handing a submission to someone, and ending that. */
export function handoffRoutes(root: "/submissions/:ref" | "/resume/:ref"): Route[] {
  const suffix = root.startsWith("/resume") ? "ByToken" : "";
  const opensWith = root.startsWith("/resume") ? "token" : "token or key";
  return [
    {
      method: "POST",
      path: `${root}/handoffs`,
      id: `createHandoff${suffix}`,
      summary: "Create a link that hands the submission over to a human",
      body: CreateHandoffRequest,
      response: CreateHandoffResponse,
      creates: true,
      // A session can create links for its own later use.
      opensWith: root.startsWith("/resume") ? "token" : "token, session or key",
      errors: WRITE_ERRORS,
      call: (operations, request) => {
        const { kind, expiresInMs, allowedActors, recipientEmail, message, qrFormat } =
          request.body as CreateHandoffRequest;
        const handoff = {
          ...(kind !== undefined && { kind }),
          ...(expiresInMs !== undefined && { expiresInMs }),
          ...(allowedActors !== undefined && { allowedActors }),
          ...(recipientEmail !== undefined && { recipientEmail }),
          ...(message !== undefined && { message }),
          ...(qrFormat !== undefined && { qrFormat }),
        };
        return operations.createHandoff({ ...writeCall(request), handoff });
      },
    },
    {
      method: "GET",
      path: `${root}/handoffs`,
      id: `listHandoffs${suffix}`,
      summary: "List the hand-offs of a submission, and the sessions they opened",
      response: ListHandoffsResponse,
      opensWith,
      errors: [...READ_ERRORS, "forbidden"],
      call: (operations, { caller, target }) => operations.listHandoffs({ caller, target }),
    },
    ...(root === "/submissions/:ref" ? completeRoutes : []),
    {
      method: "DELETE",
      path: `${root}/handoffs/:handoffId`,
      id: `revokeHandoff${suffix}`,
      summary: "Revoke a hand-off, with every session opened through it",
      body: RevokeHandoffRequest,
      response: RevokeHandoffResponse,
      opensWith,
      errors: WRITE_ERRORS,
      call: (operations, request) => {
        const { reason } = request.body as RevokeHandoffRequest;
        const handoffId = param(request, "handoffId");
        return operations.revokeHandoff({
          ...writeCall(request),
          handoffId,
          ...(reason !== undefined && { reason }),
        });
      },
    },
  ];
}

export const allHandoffsRoute: Route = {
  method: "GET",
  path: "/handoffs",
  id: "listAllHandoffs",
  summary: "List the hand-offs of all submissions",
  query: ListAllHandoffsQuery,
  response: ListAllHandoffsResponse,
  ...BY_KEY,
  call: (operations, { caller, query }) => operations.listAllHandoffs({ caller, query }),
};

/** The endpoints behind links. Opening one with GET doesn't use it up. */
export const linkRoutes: Route[] = [
  {
    method: "POST",
    path: "/submissions/:ref/sessions",
    id: "openSession",
    summary: "Exchange the secret of a link, or a code, for a session",
    body: OpenSessionRequest,
    response: OpenSessionResponse,
    creates: true,
    setsCookie: true,
    opensWith: "link",
    errors: [
      "bad_request",
      "unauthorized",
      "forbidden",
      "token_invalid",
      "token_expired",
      "expired",
      "cancelled",
      "rate_limited",
      "service_unavailable",
    ],
    call: (operations, request) =>
      operations.openSession({
        caller: request.caller,
        submissionId: param(request, "ref"),
        request: request.body as OpenSessionRequest,
      }),
  },
  {
    method: "GET",
    path: "/resume/:ref/:token",
    id: "getSubmissionByLink",
    page: "form",
    summary: "Read a submission by a direct link",
    query: GetSubmissionQuery,
    isLink: true,
    response: GetSubmissionResponse,
    opensWith: "token",
    errors: READ_ERRORS,
    call: readSubmission,
  },
  {
    method: "GET",
    path: "/resume",
    id: "getSubmissionByQuery",
    page: "form",
    summary: "Read a submission by a token in the query",
    query: ResumeByQueryQuery,
    isLink: true,
    response: GetSubmissionResponse,
    opensWith: "token",
    errors: READ_ERRORS,
    call: readSubmission,
  },
];
