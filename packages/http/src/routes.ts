import {
  CancelRequest,
  CancelResponse,
  ConfirmUploadRequest,
  ConfirmUploadResponse,
  CreateKeyRequest,
  CreateKeyResponse,
  CreateSubmissionRequest,
  CreateSubmissionResponse,
  type ErrorType,
  GetEventsQuery,
  GetEventsResponse,
  GetSubmissionQuery,
  GetSubmissionResponse,
  IntakeDefinitionSchema,
  IntakeResponse,
  IntakeSchemaResponse,
  ListEventsQuery,
  ListEventsResponse,
  ListIntakesQuery,
  ListIntakesResponse,
  ListKeysResponse,
  ListSubmissionsQuery,
  ListSubmissionsResponse,
  RequestUploadRequest,
  RequestUploadResponse,
  RetireIntakeResponse,
  RetryDeliveryRequest,
  RetryDeliveryResponse,
  ReviewRequest,
  ReviewResponse,
  RevokeKeyResponse,
  SetFieldsRequest,
  SetFieldsResponse,
  SubmitRequest,
  SubmitResponse,
  TokenAdminRequest,
  TokenAdminResponse,
  ValidateRequest,
  ValidateResponse,
} from "@formbridge/contract";
import type { Parsed, Route } from "./route.ts";

const WRITE_ERRORS: readonly ErrorType[] = [
  "bad_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "token_invalid",
  "token_required",
  "token_conflict",
  "token_expired",
  "expired",
  "cancelled",
  "conflict",
  "needs_approval",
  "invalid",
  "rate_limited",
  "service_unavailable",
];
const READ_ERRORS: readonly ErrorType[] = [
  "bad_request",
  "unauthorized",
  "not_found",
  "token_invalid",
  "token_conflict",
  "token_expired",
  "expired",
  "rate_limited",
  "service_unavailable",
];
const ADMIN_ERRORS: readonly ErrorType[] = [
  "bad_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "service_unavailable",
];

/** What every write takes beside its own fields. */
const writeCall = ({ caller, target, body, idempotencyKey, idempotencyTtlMs }: Parsed) => {
  const { actor } = body as { actor?: never };
  return {
    caller,
    target,
    ...(actor !== undefined && { actor }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(idempotencyTtlMs !== undefined && { idempotencyTtlMs }),
  };
};

const param = ({ params }: Parsed, name: string): string => params[name] ?? "";

/** The paths of one submission, by id or by token: the same rows under both roots. */
function submissionRoutes(root: "/submissions/:ref" | "/resume/:ref"): Route[] {
  const suffix = root.startsWith("/resume") ? "ByToken" : "";
  const opensWith = root.startsWith("/resume") ? "token" : "token or key";
  const setFields = {
    summary: "Set, change or remove fields",
    body: SetFieldsRequest,
    response: SetFieldsResponse,
    opensWith,
    errors: WRITE_ERRORS,
    call: (operations, request) =>
      operations.setFields({ ...writeCall(request), fields: request.body.fields as Record<string, unknown> }),
  } as const satisfies Partial<Route>;
  return [
    {
      method: "GET",
      path: root,
      id: `getSubmission${suffix}`,
      summary: "Read a submission",
      query: GetSubmissionQuery,
      response: GetSubmissionResponse,
      opensWith,
      errors: READ_ERRORS,
      call: (operations, { caller, target, ifNoneMatch }) =>
        operations.getSubmission({
          caller,
          target,
          ...(ifNoneMatch !== undefined && { unlessChangedSince: ifNoneMatch }),
        }),
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
      path: `${root}/uploads`,
      id: `requestUpload${suffix}`,
      summary: "Announce a file and get a URL for it",
      body: RequestUploadRequest,
      response: RequestUploadResponse,
      opensWith,
      errors: WRITE_ERRORS,
      call: (operations, request) => {
        const { field, filename, mimeType, sizeBytes, sha256 } = request.body as RequestUploadRequest;
        const upload = { field, filename, mimeType, sizeBytes, ...(sha256 !== undefined && { sha256 }) };
        return operations.requestUpload({ ...writeCall(request), upload });
      },
    },
    {
      method: "POST",
      path: `${root}/uploads/:uploadId/confirm`,
      id: `confirmUpload${suffix}`,
      summary: "Say that a file was sent",
      body: ConfirmUploadRequest,
      response: ConfirmUploadResponse,
      opensWith,
      errors: WRITE_ERRORS,
      call: (operations, request) =>
        operations.confirmUpload({ ...writeCall(request), uploadId: param(request, "uploadId") }),
    },
    {
      method: "POST",
      path: `${root}/submit`,
      id: `submit${suffix}`,
      summary: "Submit for review or delivery",
      body: SubmitRequest,
      response: SubmitResponse,
      opensWith,
      errors: [...WRITE_ERRORS, "missing", "upload_pending", "locked"],
      call: (operations, request) => operations.submit(writeCall(request)),
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
      path: `${root}/events`,
      id: `getEvents${suffix}`,
      summary: "Read the history: JSON, JSON lines, or a live stream, as Accept asks",
      query: GetEventsQuery,
      response: GetEventsResponse,
      opensWith,
      errors: READ_ERRORS,
      call: (operations, { caller, target, query }) => operations.getEvents({ caller, target, query }),
    },
  ];
}

const createRoute: Route = {
  method: "POST",
  path: "/intakes/:intakeId/submissions",
  id: "createSubmission",
  summary: "Create a submission",
  body: CreateSubmissionRequest,
  response: CreateSubmissionResponse,
  creates: true,
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

const byKeyRoutes: Route[] = [
  {
    method: "POST",
    path: "/submissions/:ref/review",
    id: "review",
    summary: "Approve or reject",
    body: ReviewRequest,
    response: ReviewResponse,
    opensWith: "key",
    errors: WRITE_ERRORS,
    call: (operations, request) => {
      const { decision, reasons } = request.body as ReviewRequest;
      return operations.review({ ...writeCall(request), decision, ...(reasons && { reasons }) });
    },
  },
  {
    method: "POST",
    path: "/submissions/:ref/tokens/revoke",
    id: "revokeTokens",
    summary: "Make every token of a submission worthless",
    body: TokenAdminRequest,
    response: TokenAdminResponse,
    opensWith: "key",
    errors: WRITE_ERRORS,
    call: (operations, request) => operations.revokeTokens(writeCall(request)),
  },
  {
    method: "POST",
    path: "/submissions/:ref/tokens/reissue",
    id: "reissueToken",
    summary: "Issue a new token and retire the ones before it",
    body: TokenAdminRequest,
    response: TokenAdminResponse,
    opensWith: "token or key",
    errors: WRITE_ERRORS,
    call: (operations, request) => operations.reissueToken(writeCall(request)),
  },
  {
    method: "POST",
    path: "/submissions/:ref/deliveries/retry",
    id: "retryDelivery",
    summary: "Start a delivery again",
    body: RetryDeliveryRequest,
    response: RetryDeliveryResponse,
    opensWith: "key",
    errors: WRITE_ERRORS,
    call: (operations, request) => operations.retryDelivery(writeCall(request)),
  },
  {
    method: "GET",
    path: "/submissions",
    id: "listSubmissions",
    summary: "List submissions, newest first",
    query: ListSubmissionsQuery,
    response: ListSubmissionsResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, query }) => operations.listSubmissions({ caller, query }),
  },
  {
    method: "GET",
    path: "/events",
    id: "listEvents",
    summary: "Follow the events of all submissions, in the order they were committed",
    query: ListEventsQuery,
    response: ListEventsResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, query }) => operations.listEvents({ caller, query }),
  },
];

const intakeRoutes: Route[] = [
  {
    method: "GET",
    path: "/intakes",
    id: "listIntakes",
    summary: "List intakes",
    query: ListIntakesQuery,
    response: ListIntakesResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, query }) => operations.listIntakes({ caller, query }),
  },
  {
    method: "GET",
    path: "/intakes/:intakeId",
    id: "getIntake",
    summary: "Read an intake's definition, without its secrets",
    response: IntakeResponse,
    opensWith: "key unless public",
    errors: ADMIN_ERRORS,
    call: (operations, request) =>
      operations.getIntake({ caller: request.caller, intakeId: param(request, "intakeId") }),
  },
  {
    method: "GET",
    path: "/intakes/:intakeId/schema",
    id: "getIntakeSchema",
    summary: "Read an intake's JSON Schema",
    response: IntakeSchemaResponse,
    opensWith: "key unless public",
    errors: ADMIN_ERRORS,
    call: (operations, request) =>
      operations.getIntakeSchema({ caller: request.caller, intakeId: param(request, "intakeId") }),
  },
  {
    method: "PUT",
    path: "/intakes/:intakeId",
    id: "putIntake",
    summary: "Register an intake, or a new version of it",
    body: IntakeDefinitionSchema,
    checksItself: true,
    response: IntakeResponse,
    creates: true,
    opensWith: "key",
    errors: [...ADMIN_ERRORS, "conflict", "invalid"],
    call: (operations, request) =>
      operations.putIntake({
        caller: request.caller,
        intakeId: param(request, "intakeId"),
        definition: request.body,
      }),
  },
  {
    method: "DELETE",
    path: "/intakes/:intakeId",
    id: "retireIntake",
    summary: "Retire an intake: no new submissions, the running ones go on",
    response: RetireIntakeResponse,
    opensWith: "key",
    errors: [...ADMIN_ERRORS, "conflict"],
    call: (operations, request) =>
      operations.retireIntake({ caller: request.caller, intakeId: param(request, "intakeId") }),
  },
];

const keyRoutes: Route[] = [
  {
    method: "POST",
    path: "/keys",
    id: "createKey",
    summary: "Make an API key; it is shown this once",
    body: CreateKeyRequest,
    response: CreateKeyResponse,
    creates: true,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, body }) =>
      operations.createKey({ caller, request: body as unknown as CreateKeyRequest }),
  },
  {
    method: "GET",
    path: "/keys",
    id: "listKeys",
    summary: "List API keys",
    query: ListIntakesQuery,
    response: ListKeysResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, query }) => operations.listKeys({ caller, query }),
  },
  {
    method: "DELETE",
    path: "/keys/:keyId",
    id: "revokeKey",
    summary: "Revoke an API key",
    response: RevokeKeyResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, request) => operations.revokeKey({ caller: request.caller, keyId: param(request, "keyId") }),
  },
];

/** Every endpoint, one row each. */
export const ROUTES: readonly Route[] = [
  createRoute,
  ...submissionRoutes("/submissions/:ref"),
  ...submissionRoutes("/resume/:ref"),
  ...byKeyRoutes,
  ...intakeRoutes,
  ...keyRoutes,
];
