import Type from "typebox";
import { type Actor, ActorSchema } from "./actor.ts";
import { InstantSchema, JsonObjectSchema, type SubmissionState, SubmissionStateSchema } from "./states.ts";

/** Every error the product can answer with, what it means, and whether the same call may succeed later. */
export const ERROR_TYPES = {
  missing: { retryable: true, meaning: "Required values are absent." },
  invalid: { retryable: true, meaning: "Values are there and fail the rules." },
  conflict: { retryable: false, meaning: "The call contradicts what is already recorded." },
  needs_approval: { retryable: false, meaning: "The submission waits for a reviewer and can't be changed." },
  upload_pending: { retryable: true, meaning: "A file was announced and has not arrived." },
  delivery_failed: { retryable: true, meaning: "The destination did not take the submission." },
  expired: { retryable: false, meaning: "The submission's time is over." },
  cancelled: { retryable: false, meaning: "The submission was cancelled." },
  token_expired: {
    retryable: false,
    meaning: "The token, session or link is over: its time, its submission, or revoked.",
  },
  token_conflict: { retryable: true, meaning: "The resume token or version is stale: somebody wrote meanwhile." },
  token_invalid: { retryable: false, meaning: "The resume token, session or review link is malformed or unknown." },
  token_required: { retryable: false, meaning: "A write needs a resume token, or in a session a version." },
  unauthorized: { retryable: false, meaning: "The API key or access token is absent or not valid." },
  forbidden: { retryable: false, meaning: "The caller is known and may not do this." },
  not_found: { retryable: false, meaning: "There is no such thing, or not for this caller." },
  bad_request: { retryable: false, meaning: "The request can't be understood." },
  method_not_allowed: { retryable: false, meaning: "The path exists, the method does not." },
  payload_too_large: { retryable: false, meaning: "The body is over the limit." },
  unsupported_media_type: { retryable: false, meaning: "The body is not of the type that this path takes." },
  headers_too_large: { retryable: false, meaning: "The header block is over the limit." },
  rate_limited: { retryable: true, meaning: "Too many calls; wait." },
  locked: { retryable: true, meaning: "Another call with the same idempotency key is running." },
  service_unavailable: { retryable: true, meaning: "A part that this call needs is not there now." },
  internal_error: { retryable: true, meaning: "Our mistake." },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

export type ErrorType = keyof typeof ERROR_TYPES;

export const FIELD_ERROR_CODES = [
  "required",
  "invalid_type",
  "invalid_format",
  "invalid_value",
  "too_long",
  "too_short",
  "file_required",
  "file_too_large",
  "file_wrong_type",
  "custom",
] as const;

export interface FieldError {
  path: string;
  code: (typeof FIELD_ERROR_CODES)[number];
  message: string;
  expected?: unknown;
  received?: unknown;
}
export const FieldErrorSchema = Type.Object(
  {
    path: Type.String({ description: "Dot-notation, array members by index.", examples: ["items.0.amount"] }),
    code: Type.Enum([...FIELD_ERROR_CODES]),
    message: Type.String(),
    expected: Type.Optional(Type.Unknown()),
    received: Type.Optional(Type.Unknown({ description: "Masked when the field is sensitive." })),
  },
  { additionalProperties: false },
);

export const NEXT_ACTIONS = [
  "collect_field",
  "request_upload",
  "wait_for_review",
  "retry_delivery",
  "cancel",
  "fetch_current_state",
  "request_handoff",
  "create_new_submission",
] as const;

export interface NextAction {
  action: (typeof NEXT_ACTIONS)[number];
  field?: string;
  hint?: string;
  accept?: string[];
  maxBytes?: number;
}
export const NextActionSchema = Type.Object(
  {
    action: Type.Enum([...NEXT_ACTIONS]),
    field: Type.Optional(Type.String()),
    hint: Type.Optional(Type.String()),
    accept: Type.Optional(Type.Array(Type.String())),
    maxBytes: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
);

export interface ErrorDetail {
  type: ErrorType;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
  fields?: FieldError[];
  nextActions?: NextAction[];
  reason?: string;
  expiredAt?: string;
  expiredFor?: number;
  canRecover?: boolean;
  recoveryMethod?: string;
  yourVersion?: number;
  conflictDetails?: { fields: string[]; canAutoMerge: boolean };
  current?: { version: number; fields: Record<string, unknown>; updatedAt: string; updatedBy: Actor };
}

export interface ErrorBody {
  ok: false;
  submissionId?: string;
  state?: SubmissionState;
  resumeToken?: string;
  version?: number;
  tokenExpiresAt?: string;
  _idempotent?: boolean;
  error: ErrorDetail;
}

export const ErrorBodySchema = Type.Object(
  {
    ok: Type.Literal(false),
    submissionId: Type.Optional(Type.String()),
    state: Type.Optional(SubmissionStateSchema),
    resumeToken: Type.Optional(Type.String()),
    version: Type.Optional(Type.Integer()),
    tokenExpiresAt: Type.Optional(InstantSchema),
    _idempotent: Type.Optional(Type.Boolean({ description: "Present when the refusal is recorded under a key." })),
    error: Type.Object(
      {
        type: Type.Enum(Object.keys(ERROR_TYPES)),
        message: Type.String(),
        retryable: Type.Boolean({ description: "May the same call succeed later?" }),
        retryAfterMs: Type.Optional(Type.Integer()),
        fields: Type.Optional(Type.Array(FieldErrorSchema)),
        nextActions: Type.Optional(Type.Array(NextActionSchema)),
        reason: Type.Optional(Type.String()),
        expiredAt: Type.Optional(InstantSchema),
        expiredFor: Type.Optional(Type.Integer()),
        canRecover: Type.Optional(Type.Boolean()),
        recoveryMethod: Type.Optional(Type.String()),
        yourVersion: Type.Optional(Type.Integer()),
        conflictDetails: Type.Optional(
          Type.Object({ fields: Type.Array(Type.String()), canAutoMerge: Type.Boolean() }),
        ),
        current: Type.Optional(
          Type.Object({
            version: Type.Integer(),
            fields: JsonObjectSchema,
            updatedAt: InstantSchema,
            updatedBy: ActorSchema,
          }),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
