import {
  CancelRequest,
  CancelResponse,
  CreateSubmissionRequest,
  CreateSubmissionResponse,
  GetEventsQuery,
  GetEventsResponse,
  GetSubmissionIntakeResponse,
  GetSubmissionQuery,
  GetSubmissionResponse,
  ResumeLinkResponse,
  ResumeQuery,
  RetryDeliveryRequest,
  RetryDeliveryResponse,
  SetFieldsRequest,
  SetFieldsResponse,
  SubmitRequest,
  SubmitResponse,
  ValidateRequest,
  ValidateResponse,
} from "@formbridge/contract";
import type { Operations } from "@formbridge/core";
import Type from "typebox";
import type { Parsed, Route } from "../route.ts";
import { KEYED_WRITE_ERRORS, param, READ_ERRORS, readSubmission, WRITE_ERRORS, writeCall } from "./shared.ts";

export const createRoute: Route = {
  method: "POST",
  path: "/intakes/:intakeId/submissions",
  id: "createSubmission",
  summary: "Create a submission",
  body: CreateSubmissionRequest,
  response: CreateSubmissionResponse,
  creates: true,
  keyed: true,
  opensWith: "key unless public",
  errors: [
    "bad_request",
    "unauthorized",
    "forbidden",
    "not_found",
    "conflict",
    "expired",
    "invalid",
    "rate_limited",
    "locked",
    "service_unavailable",
  ],
  call: (operations, request) =>
    operations.createSubmission({
      caller: request.caller,
      intakeId: param(request, "intakeId"),
      request: request.body,
      ...(request.idempotencyKey !== undefined && { idempotencyKey: request.idempotencyKey }),
      ...(request.idempotencyTtlMs !== undefined && { idempotencyTtlMs: request.idempotencyTtlMs }),
    }),
};

const byReference = { query: GetSubmissionQuery, response: GetSubmissionResponse, call: readSubmission };

/**
 * `/resume/{submissionId}?session=…` and `?code=…` are links too: they say how to continue, and don't use the link up.
 */
const byLink = {
  page: "form" as const,
  query: ResumeQuery,
  isLink: true as const,
  response: Type.Union([GetSubmissionResponse, ResumeLinkResponse]),
  call: (operations: Operations, request: Parsed) => {
    const { session, code } = request.query as ResumeQuery;
    // With a token in the path these parameters aren't ours: sign-in pages and mail providers add them too.
    const isToken = param(request, "ref").startsWith("rtok_");
    if (isToken || (session === undefined && code === undefined)) return readSubmission(operations, request);
    const opensWith = session === undefined ? "code" : "session";
    return operations.describeLink({ submissionId: param(request, "ref"), opensWith });
  },
};

/** The paths of one submission, by id or by token: the same rows under both roots. */
export function submissionRoutes(root: "/submissions/:ref" | "/resume/:ref"): Route[] {
  const suffix = root.startsWith("/resume") ? "ByToken" : "";
  const opensWith = root.startsWith("/resume") ? "token" : "token, session or key";
  const setFields = {
    summary: "Set, change or remove fields",
    body: SetFieldsRequest,
    response: SetFieldsResponse,
    keyed: true,
    opensWith,
    errors: KEYED_WRITE_ERRORS,
    call: (operations, request) =>
      operations.setFields({ ...writeCall(request), fields: request.body.fields as Record<string, unknown> }),
  } as const satisfies Partial<Route>;
  return [
    {
      method: "GET",
      path: root,
      id: `getSubmission${suffix}`,
      summary: "Read a submission",
      ...(root.startsWith("/resume") ? byLink : byReference),
      opensWith,
      errors: READ_ERRORS,
    },
    { method: "PATCH", path: root, id: `setFieldsShort${suffix}`, ...setFields },
    { method: "PATCH", path: `${root}/fields`, id: `setFields${suffix}`, ...setFields },
    {
      method: "POST",
      path: `${root}/validate`,
      id: `validate${suffix}`,
      summary: "Check without submitting",
      body: ValidateRequest,
      response: ValidateResponse,
      opensWith,
      errors: WRITE_ERRORS,
      call: (operations, request) => operations.validate(writeCall(request)),
    },
    {
      method: "POST",
      path: `${root}/submit`,
      id: `submit${suffix}`,
      summary: "Submit for review or delivery",
      body: SubmitRequest,
      response: SubmitResponse,
      keyed: true,
      opensWith,
      errors: [...KEYED_WRITE_ERRORS, "missing", "upload_pending"],
      call: (operations, request) => operations.submit(writeCall(request)),
    },
    {
      method: "POST",
      path: `${root}/deliveries/retry`,
      id: `retryDelivery${suffix}`,
      summary: "Restart a delivery",
      body: RetryDeliveryRequest,
      response: RetryDeliveryResponse,
      opensWith: root.startsWith("/resume") ? "token" : "token or key",
      errors: WRITE_ERRORS,
      call: (operations, request) => operations.retryDelivery(writeCall(request)),
    },
    {
      method: "DELETE",
      path: root,
      id: `cancel${suffix}`,
      summary: "Cancel a submission",
      body: CancelRequest,
      response: CancelResponse,
      opensWith,
      errors: WRITE_ERRORS,
      call: (operations, request) => {
        const { reason } = request.body as CancelRequest;
        return operations.cancel({ ...writeCall(request), ...(reason !== undefined && { reason }) });
      },
    },
    {
      method: "GET",
      path: `${root}/intake`,
      id: `getSubmissionIntake${suffix}`,
      summary: "Read what a form needs to render the submission",
      response: GetSubmissionIntakeResponse,
      opensWith,
      errors: READ_ERRORS,
      call: (operations, { caller, target }) => operations.getSubmissionIntake({ caller, target }),
    },
    {
      method: "GET",
      path: `${root}/events`,
      id: `getEvents${suffix}`,
      summary: "Read the history: JSON, JSON lines or a live stream, depending on Accept",
      query: GetEventsQuery,
      response: GetEventsResponse,
      opensWith,
      errors: READ_ERRORS,
      call: (operations, { caller, target, query }) => operations.getEvents({ caller, target, query }),
    },
  ];
}
