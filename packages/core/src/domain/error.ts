import {
  type DeliveryState,
  ERROR_TYPES,
  type ErrorBody,
  type ErrorDetail,
  type ErrorType,
  type NextAction,
  type SubmissionState,
} from "@formbridge/contract";
import type { Instant } from "./instant.ts";

/** What an error reveals about its submission; the token only if the caller may hold it. */
export interface ErrorAbout {
  submissionId?: string;
  state?: SubmissionState;
  version?: number;
  resumeToken?: string;
  resumeUrl?: string;
  tokenExpiresAt?: string;
  /** When the submission was last written, for transports that report it outside the body. */
  updatedAt?: Instant;
  deliveryState?: DeliveryState;
  /** Set if an idempotency key was given and the refusal is recorded under it. */
  idempotent?: boolean;
  /** When the refusal was recorded, if this is a replay. */
  replayOf?: Instant;
}

type Details = Partial<Omit<ErrorDetail, "type" | "message">> & { about?: ErrorAbout; cause?: unknown };

/** The only error class. Its type is the contract's; each binding maps it to its own form. */
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

  /** The same error with more about its submission. */
  withAbout(about: ErrorAbout): ContractError {
    return this.#with({ about: { ...this.about, ...about } });
  }

  /** The same error with missing parts filled in; its own take precedence. */
  completedBy({ about, nextActions }: { about: ErrorAbout; nextActions: NextAction[] }): ContractError {
    return this.#with({
      about: { ...about, ...this.about },
      nextActions: this.detail.nextActions ?? nextActions,
    });
  }

  /** The same error with other next actions. */
  advising(nextActions: NextAction[]): ContractError {
    return this.#with({ nextActions });
  }

  #with(details: Details): ContractError {
    const { type, message, ...rest } = this.detail;
    return new ContractError(type, message, { ...rest, about: this.about, cause: this.cause, ...details });
  }
}

/** An unexpected error is our bug: it is logged, and its caller learns no details. */
export const internalError = (cause: unknown): ContractError =>
  new ContractError("internal_error", "Something went wrong in the server. It was logged; try again later.", { cause });

/** The error with these next actions, unless it has its own. */
export const withNextActions = (error: ContractError, nextActions: NextAction[]): ContractError =>
  error.detail.nextActions === undefined ? error.advising(nextActions) : error;

/** The error envelope, the same in every binding. */
export function errorBody(error: ContractError): ErrorBody {
  const { idempotent, replayOf: _replayOf, updatedAt: _updatedAt, ...about } = error.about;
  return { ok: false, ...about, ...(idempotent !== undefined && { _idempotent: idempotent }), error: error.detail };
}
