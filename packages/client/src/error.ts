import type { ErrorBody, ErrorDetail, ErrorType } from "@formbridge/contract";

/** The type of the server's error, or why there was no usable response. */
export type ClientErrorType = ErrorType | "network_error" | "timeout" | "bad_answer";

interface Failure {
  status?: number;
  body?: ErrorBody;
  retryable?: boolean;
  cause?: unknown;
}

/** The one error that this client throws, apart from the `AbortError` of a signal that the caller aborted. */
export class FormBridgeError extends Error {
  readonly type: ClientErrorType;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** May the same call succeed later? */
  readonly retryable: boolean;
  /** The contract's envelope, when the server sent one. */
  readonly body: ErrorBody | undefined;

  constructor(type: ClientErrorType, message: string, { status, body, retryable = false, cause }: Failure = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "FormBridgeError";
    this.type = type;
    this.status = status;
    this.body = body;
    this.retryable = retryable;
  }

  /** Everything that the server said about the failure: fields, next actions, conflict details. */
  get detail(): ErrorDetail | undefined {
    return this.body?.error;
  }
}

/** Somebody else changed the same field. */
export interface FieldConflict {
  /** The field, as a dot-path. */
  path: string;
  /** What this client knew before it wrote. */
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

/** A write touched fields that somebody else changed meanwhile, and nobody said which value to keep. */
export class MergeConflictError extends FormBridgeError {
  readonly conflicts: readonly FieldConflict[];

  constructor(conflicts: readonly FieldConflict[], cause?: FormBridgeError) {
    const paths = conflicts.map(({ path }) => path).join(", ");
    super("token_conflict", `Somebody else changed ${paths}. Choose which values to keep, then write again.`, {
      ...(cause?.status !== undefined && { status: cause.status }),
      ...(cause?.body !== undefined && { body: cause.body }),
      ...(cause && { cause }),
    });
    this.name = "MergeConflictError";
    this.conflicts = conflicts;
  }
}
