import {
  CreateHandoffRequest,
  CreateHandoffResponse,
  GetSubmissionQuery,
  GetSubmissionResponse,
  ListHandoffsResponse,
  OpenSessionRequest,
  OpenSessionResponse,
  ResumeByQueryQuery,
  RevokeHandoffRequest,
  RevokeHandoffResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { param, READ_ERRORS, readSubmission, WRITE_ERRORS, writeCall } from "./shared.ts";

/** Giving a submission into somebody's hands, and taking it back. */
export function handoffRoutes(root: "/submissions/:ref" | "/resume/:ref"): Route[] {
  const suffix = root.startsWith("/resume") ? "ByToken" : "";
  const opensWith = root.startsWith("/resume") ? "token" : "token or key";
  return [
    {
      method: "POST",
      path: `${root}/handoffs`,
      id: `createHandoff${suffix}`,
      summary: "Make a link that hands the submission to a human",
      body: CreateHandoffRequest,
      response: CreateHandoffResponse,
      creates: true,
      opensWith,
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
      summary: "See who was given the submission, and who came",
      response: ListHandoffsResponse,
      opensWith,
      errors: [...READ_ERRORS, "forbidden"],
      call: (operations, { caller, target }) => operations.listHandoffs({ caller, target }),
    },
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

/** What links lead to. Opening one by GET spends nothing. */
export const linkRoutes: Route[] = [
  {
    method: "POST",
    path: "/submissions/:ref/sessions",
    id: "openSession",
    summary: "Exchange what a link carries, or a code, for a session",
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
    summary: "Read a submission by a direct link",
    query: GetSubmissionQuery,
    response: GetSubmissionResponse,
    opensWith: "token",
    errors: READ_ERRORS,
    call: readSubmission,
  },
  {
    method: "GET",
    path: "/resume",
    id: "getSubmissionByQuery",
    summary: "Read a submission by a token in the query",
    query: ResumeByQueryQuery,
    response: GetSubmissionResponse,
    opensWith: "token",
    errors: READ_ERRORS,
    call: readSubmission,
  },
];
