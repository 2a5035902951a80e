import type { ErrorType } from "@formbridge/contract";
import { ContractError, internalError } from "@formbridge/core";

/** The HTTP status of every error type. */
export const STATUS = {
  missing: 422,
  invalid: 422,
  conflict: 409,
  needs_approval: 409,
  upload_pending: 422,
  delivery_failed: 409,
  expired: 410,
  cancelled: 410,
  token_expired: 410,
  token_conflict: 409,
  token_invalid: 404,
  token_required: 428,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  bad_request: 400,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  headers_too_large: 431,
  rate_limited: 429,
  locked: 503,
  service_unavailable: 503,
  internal_error: 500,
} as const satisfies Record<ErrorType, number>;

/** Two types have a second status: a malformed token is a 400, and so is a submit without its idempotency key. */
export function statusOf(error: ContractError): number {
  if (error.type === "token_invalid" && error.detail.reason === "malformed") return 400;
  if (error.type === "invalid" && error.detail.reason === "idempotency_key_required") return 400;
  return STATUS[error.type];
}

export const asContractError = (error: unknown): ContractError =>
  error instanceof ContractError ? error : (fromFastify(error) ?? internalError(error));

const FASTIFY_CODES: Record<string, () => ContractError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new ContractError("payload_too_large", "The body is too large. Send a smaller one."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ContractError("unsupported_media_type", "The body must be application/json."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ContractError("bad_request", "The body's length differs from Content-Length. Send the exact length."),
  FST_ERR_MAX_PARAM_LENGTH: () => new ContractError("not_found", "This path doesn't exist."),
  FST_ERR_BAD_URL: () => new ContractError("bad_request", "The URL is malformed. Check its percent-encoding."),
  FST_ERR_ASYNC_CONSTRAINT: () => new ContractError("bad_request", "The request is malformed."),
};

function fromFastify(error: unknown): ContractError | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const known = FASTIFY_CODES[String(error.code)]?.();
  if (known !== undefined || !("statusCode" in error) || Number(error.statusCode) >= 500) return known;
  return new ContractError("bad_request", "The request is malformed.", { cause: error });
}
