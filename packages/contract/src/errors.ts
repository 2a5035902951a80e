import Type, { type Static, type TSchema } from "typebox";
import { ActorSchema } from "./actor.ts";
import { closedObject } from "./closed-object.ts";
import { DeliveryStateSchema } from "./delivery-state.ts";
import { InstantSchema, JsonObjectSchema, SubmissionStateSchema } from "./states.ts";

/** Every error of the product, what it means, and whether the same call may succeed later. */
export const ERROR_TYPES = {
  missing: { retryable: true, meaning: "Required values are missing." },
  invalid: { retryable: true, meaning: "Values don't match the schema or another rule." },
  conflict: { retryable: false, meaning: "The call conflicts with the current state or an earlier call." },
  needs_approval: { retryable: false, meaning: "The submission is being reviewed and can't be changed." },
  upload_pending: { retryable: true, meaning: "A file was announced but hasn't arrived." },
  delivery_failed: { retryable: true, meaning: "The submission couldn't be delivered, and delivery was given up." },
  expired: { retryable: false, meaning: "The submission has expired." },
  cancelled: { retryable: false, meaning: "The submission was cancelled." },
  token_expired: {
    retryable: false,
    meaning: "The token, session or link has expired, was revoked, or its submission has ended.",
  },
  token_conflict: {
    retryable: true,
    meaning: "The resume token or version is stale: somebody else wrote in the meantime.",
  },
  token_invalid: { retryable: false, meaning: "The resume token, session or review link is malformed or unknown." },
  token_required: { retryable: false, meaning: "A write needs a resume token, or a version in a session." },
  unauthorized: { retryable: false, meaning: "The API key or access token is missing or invalid." },
  forbidden: { retryable: false, meaning: "The caller is authenticated but may not do this." },
  not_found: { retryable: false, meaning: "It doesn't exist, or the caller may not see it." },
  bad_request: { retryable: false, meaning: "The request can't be understood." },
  method_not_allowed: { retryable: false, meaning: "The path exists, but not with this method." },
  payload_too_large: { retryable: false, meaning: "The body is too large." },
  unsupported_media_type: { retryable: false, meaning: "The path doesn't accept this type of body." },
  range_not_satisfiable: { retryable: false, meaning: "The requested range is outside the file." },
  headers_too_large: { retryable: false, meaning: "The headers are too large." },
  rate_limited: { retryable: true, meaning: "Too many calls. Wait before the next one." },
  locked: { retryable: true, meaning: "Another call with the same idempotency key is running." },
  service_unavailable: { retryable: true, meaning: "Something that this call needs is currently unavailable." },
  internal_error: { retryable: true, meaning: "An unexpected error in the server." },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

export type ErrorType = keyof typeof ERROR_TYPES;

/** What is wrong with a field, and which schema keywords cause it. */
export const FIELD_ERROR_CODES = {
  required: "a required value is missing",
  invalid_type: "`type`",
  invalid_format: "`format`",
  invalid_value: "`enum`, `const`, `minimum`, `maximum`, `multipleOf`, `pattern`, `uniqueItems`",
  too_long: "`maxLength`, `maxItems`",
  too_short: "`minLength`, `minItems`",
  file_required: "a required file is missing",
  file_too_large: "a file exceeds `maxBytes` or a quota",
  file_wrong_type: "a file's type isn't in `accept`, or doesn't match its bytes",
  custom: "everything else; `message` says what",
} as const;
export type FieldErrorCode = keyof typeof FIELD_ERROR_CODES;

export const FieldErrorSchema = closedObject({
  path: Type.String({ description: "Dot-notation, array members by index.", examples: ["items.0.amount"] }),
  code: Type.Enum(Object.keys(FIELD_ERROR_CODES) as FieldErrorCode[]),
  message: Type.String(),
  expected: Type.Optional(Type.Unknown()),
  received: Type.Optional(Type.Unknown({ description: "Masked when the field is sensitive." })),
});
export type FieldError = Static<typeof FieldErrorSchema>;

/** What a caller can do about a refusal. */
export const NEXT_ACTIONS = {
  collect_field: "get a value for `field` and set it",
  request_upload: "announce, send and confirm a file for `field`; with `uploadId`, send the one that was announced",
  wait_for_review: "wait until the reviewers have decided",
  retry_delivery: "restart the delivery",
  cancel: "cancel the submission, if it is no longer wanted",
  fetch_current_state: "read the submission, merge, and call again",
  request_handoff:
    "hand over to a human: only a human may set `field`; `kind` is present if only that kind is accepted",
  create_new_submission: "this one has ended: start another",
  reissue_token:
    "the token has lapsed or was revoked: reissue it with the creator's or an admin's key (over MCP, call `status`)",
} as const;
export type NextActionName = keyof typeof NEXT_ACTIONS;

/** The possible values of `reason`, by error type. */
export const ERROR_REASONS = {
  ttl_elapsed: { of: "token_expired", means: "the token, link, session or code has reached the end of its lifetime" },
  finalized: { of: "token_expired", means: "the submission was finalized; its last token can only read" },
  admin_revoked: { of: "token_expired", means: "the submission's tokens were revoked or reissued" },
  handoff_revoked: { of: "token_expired", means: "the hand-off was revoked, and its sessions with it" },
  code_spent: {
    of: "token_expired",
    means: "the code of a magic link was used, or there were too many wrong attempts",
  },
  link_spent: { of: "token_expired", means: "the review link was used" },
  review_decided: { of: "token_expired", means: "the gate of the review link was decided without it" },
  malformed: { of: "token_invalid", means: "it doesn't look like a token, session or link; the status is 400" },
  unknown: { of: "token_invalid", means: "no such token, session or link exists" },
  idempotency_key_required: { of: "invalid", means: "`submit` needs an idempotency key; the status is 400" },
  storage_full: { of: "service_unavailable", means: "there is no room for files" },
  address_blocked: { of: "forbidden", means: "calls without an API key from this address are blocked for a time" },
  unknown_argument: { of: "bad_request", means: "MCP: the tool has no such argument" },
} as const satisfies Record<string, { of: ErrorType; means: string }>;
export type ErrorReason = keyof typeof ERROR_REASONS;

export const NextActionSchema = closedObject({
  action: Type.Enum(Object.keys(NEXT_ACTIONS) as NextActionName[]),
  field: Type.Optional(Type.String()),
  hint: Type.Optional(Type.String()),
  accept: Type.Optional(Type.Array(Type.String())),
  maxBytes: Type.Optional(Type.Integer()),
  kind: Type.Optional(Type.Literal("magic_link", { description: "The only kind of hand-off that is accepted." })),
  uploadId: Type.Optional(Type.String({ description: "The pending upload that waits for its file." })),
});
export type NextAction = Static<typeof NextActionSchema>;

const described = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Unsafe<Static<Schema>>({ ...schema, description });

export const ErrorBodySchema = closedObject({
  ok: Type.Literal(false),
  submissionId: Type.Optional(Type.String({ description: "the submission, if the caller may see it" })),
  state: Type.Optional(described(SubmissionStateSchema, "its current state")),
  resumeToken: Type.Optional(
    Type.String({ description: "the current token, for those who may hold it; never in a 410" }),
  ),
  resumeUrl: Type.Optional(
    Type.String({ description: "the form for that token, for a human's browser; present with `resumeToken`" }),
  ),
  version: Type.Optional(Type.Integer({ description: "the submission's current version" })),
  tokenExpiresAt: Type.Optional(described(InstantSchema, "when `resumeToken` expires")),
  deliveryState: Type.Optional(described(DeliveryStateSchema, "once submitted: the state of the delivery")),
  _idempotent: Type.Optional(Type.Boolean({ description: "the refusal is recorded under an idempotency key" })),
  error: closedObject({
    type: Type.Enum(Object.keys(ERROR_TYPES) as ErrorType[], { description: "one of the types above" }),
    message: Type.String({ description: "what happened, and what to do, in a sentence or two" }),
    retryable: Type.Boolean({ description: "whether the same call may succeed later" }),
    retryAfterMs: Type.Optional(Type.Integer({ description: "how long to wait, where waiting helps" })),
    fields: Type.Optional(Type.Array(FieldErrorSchema, { description: "problems by field" })),
    nextActions: Type.Optional(Type.Array(NextActionSchema, { description: "what a client can do" })),
    reason: Type.Optional(
      Type.Enum(Object.keys(ERROR_REASONS) as ErrorReason[], { description: "why, in one word, see below" }),
    ),
    expiredAt: Type.Optional(described(InstantSchema, "of a 410: when it ended")),
    expiredFor: Type.Optional(Type.Integer({ description: "of a 410: how long ago that was, in milliseconds" })),
    canRecover: Type.Optional(Type.Boolean({ description: "of a 410: whether there is a way to continue" })),
    recoveryMethod: Type.Optional(Type.String({ description: "of a 410: which one" })),
    yourVersion: Type.Optional(Type.Integer({ description: "of `token_conflict`: the version that was presented" })),
    rotatedAt: Type.Optional(described(InstantSchema, "of `token_conflict`: when the presented token was replaced")),
    conflictDetails: Type.Optional(
      Type.Object(
        { fields: Type.Array(Type.String()), canAutoMerge: Type.Boolean() },
        { description: "of `token_conflict`: the fields that both sides changed" },
      ),
    ),
    current: Type.Optional(
      Type.Object(
        {
          version: Type.Integer(),
          fields: JsonObjectSchema,
          updatedAt: InstantSchema,
          updatedBy: ActorSchema,
        },
        { description: "of `token_conflict`: the current values, sensitive ones masked" },
      ),
    ),
  }),
});
export type ErrorBody = Static<typeof ErrorBodySchema>;
export type ErrorDetail = ErrorBody["error"];
