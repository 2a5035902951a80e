import {
  ERROR_TYPES,
  type ErrorBody,
  type ErrorDetail,
  type ErrorType,
  type SubmissionState,
} from "@formbridge/contract";
import type { Instant } from "./instant.ts";

/** What an error may tell about its submission; the token only where the caller may hold it. */
export interface ErrorAbout {
  submissionId?: string;
  state?: SubmissionState;
  version?: number;
  resumeToken?: string;
  tokenExpiresAt?: string;
  /** Present when an idempotency key was given and the refusal is recorded under it. */
  idempotent?: boolean;
  /** The refusal was recorded at this moment, and is given again. */
  replayOf?: Instant;
}

type Details = Partial<Omit<ErrorDetail, "type" | "message">> & { about?: ErrorAbout; cause?: unknown };

/** The one error of the product. Its type is the contract's; each transport maps it to its own form. */
export class ContractError extends Error {
  readonly type: ErrorType;
  readonly detail: ErrorDetail;
  readonly about: ErrorAbout;

  constructor(type: ErrorType, message: string, details: Details = {}) {
    const { about = {}, cause, ...rest } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ContractError";
    this.type = type;
    this.about = about;
    this.detail = { type, message, retryable: ERROR_TYPES[type].retryable, ...rest };
  }

  /** The same error, telling more about its submission. */
  withAbout(about: ErrorAbout): ContractError {
    const { type, message, ...rest } = this.detail;
    return new ContractError(type, message, { ...rest, about: { ...this.about, ...about }, cause: this.cause });
  }
}

/** The envelope of an error, the same in every binding. */
export function errorBody(error: ContractError): ErrorBody {
  const { idempotent, replayOf: _replayOf, ...about } = error.about;
  return { ok: false, ...about, ...(idempotent !== undefined && { _idempotent: idempotent }), error: error.detail };
}
