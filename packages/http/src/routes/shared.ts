import type { ErrorType } from "@formbridge/contract";
import type { Operations } from "@formbridge/core";
import type { Parsed } from "../route.ts";

export const WRITE_ERRORS: readonly ErrorType[] = [
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
  "delivery_failed",
  "invalid",
  "rate_limited",
  "service_unavailable",
];
/** For writes that take an idempotency key: another call with that key may be running. */
export const KEYED_WRITE_ERRORS: readonly ErrorType[] = [...WRITE_ERRORS, "locked"];
/** For uploads to a signed URL. */
export const INCOMING_FILE_ERRORS: readonly ErrorType[] = [
  "forbidden",
  "not_found",
  "conflict",
  "needs_approval",
  "token_expired",
  "expired",
  "cancelled",
  "service_unavailable",
];
export const READ_ERRORS: readonly ErrorType[] = [
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
export const ADMIN_ERRORS: readonly ErrorType[] = [
  "bad_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "service_unavailable",
];

/** For rows that need an API key and aren't about one submission. */
export const BY_KEY = { opensWith: "key", errors: ADMIN_ERRORS } as const;
/** For writes to one submission that need an API key. */
export const WRITES_BY_KEY = { opensWith: "key", errors: WRITE_ERRORS } as const;

/** What every write takes besides its own fields. */
export const writeCall = ({ caller, target, body, idempotencyKey, idempotencyTtlMs, waitMs }: Parsed) => {
  const { actor } = body as { actor?: never };
  return {
    caller,
    target,
    ...(actor !== undefined && { actor }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(idempotencyTtlMs !== undefined && { idempotencyTtlMs }),
    ...(waitMs !== undefined && { waitMs }),
  };
};

export const param = ({ params }: Parsed, name: string): string => params[name] ?? "";

export const readSubmission = (operations: Operations, { caller, target, ifNoneMatch }: Parsed) =>
  operations.getSubmission({ caller, target, ...(ifNoneMatch !== undefined && { unlessChangedSince: ifNoneMatch }) });
