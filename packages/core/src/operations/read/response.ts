import type { CreateSubmissionResponse, IntakeDefinition, JsonObject } from "@formbridge/contract";
import { deliveryMark } from "../../domain/delivery/delivery-state.ts";
import { maskFields } from "../../domain/fields/mask.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Submission } from "../../domain/submission.ts";
import { REISSUE } from "../../domain/tokens/refuse-ended.ts";
import { isEditable, isTerminal } from "../../domain/transitions.ts";
import type { RateVerdict } from "../../ports/rate-limiter.ts";
import type { Deps } from "../deps.ts";
import { resumeUrlOf } from "../links/handoff-links.ts";

/** An operation's response, and what a transport may add in its own way (headers, `_meta`). */
export interface OperationResponse<Body> {
  body: Body;
  /** The submission's state as shown in the response. */
  mark?: { version: number; updatedAt: Instant; resumeToken?: string };
  /** Whether something was created. */
  created?: boolean;
  /** When the response was recorded, if this is a replay. */
  replayOf?: Instant;
  /** The submission's definition, for transports that explain its fields. */
  definition?: IntakeDefinition;
  rate?: RateVerdict;
  /** The list has no more items for now, although it has a token to ask with again later. */
  atEnd?: true;
  /** A new session, which the transport should keep for its caller where the page's scripts can't read it. */
  opened?: { session: string; submissionId: string; ttlMs: number };
}

/** What a caller who may hold the current token learns about it. */
export interface Held {
  token?: string;
  /** It has lapsed and isn't given out again. */
  lapsed?: true;
}

/** What a response about a submission is built from. */
export interface Shown extends Held {
  submission: Submission;
  intake: CompiledIntake;
  now: Instant;
  policy: Policy;
  /** The URL of the form with this token. */
  resumeUrl?: string;
  /** Whether sensitive values are masked. */
  masked?: boolean;
}

/** What a response shows of a submission. */
export function show(
  { settings: { policy }, publicUrl }: Deps,
  { submission, intake, now, masked = false }: Pick<Shown, "submission" | "intake" | "now" | "masked">,
  held: Held = {},
): Shown {
  const { token } = held;
  const url = token === undefined ? {} : { resumeUrl: resumeUrlOf(publicUrl(), token) };
  return { submission, intake, now, policy, masked, ...held, ...url };
}

/** The values, masked as needed for the reader. */
export const fieldsOf = ({ submission, intake, masked }: Shown): JsonObject =>
  masked === true ? maskFields(submission.fields, intake) : submission.fields;

const LAPSED = {
  message: "The resume token has expired and isn't shown again.",
  timeRemaining: 0,
  nextActions: [REISSUE],
};

/** What every response about a submission contains. */
export function markOf({ submission, token, resumeUrl, lapsed, now, policy }: Shown) {
  const { submissionId, state, version } = submission;
  const mark = { ok: true as const, submissionId, state, version, ...deliveryMark(submission) };
  if (token === undefined) return { ...mark, ...(lapsed === true && !isTerminal(state) && { warning: LAPSED }) };
  const remaining = submission.token.expiresAt - now;
  return {
    ...mark,
    resumeToken: token,
    ...(resumeUrl !== undefined && { resumeUrl }),
    tokenExpiresAt: toIso(submission.token.expiresAt),
    ...(!isTerminal(state) &&
      remaining <= policy.tokenWarningMs && {
        warning: {
          message: `The resume token expires in ${minutesOf(remaining)}.`,
          timeRemaining: Math.max(0, remaining),
        },
      }),
  };
}

function minutesOf(remainingMs: number): string {
  const minutes = Math.floor(remainingMs / 60_000);
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

export function findingsOf({ submission, intake }: Shown) {
  const { missing, errors } = intake.validate(submission.fields);
  return { missingFields: missing, validationErrors: errors };
}

export const respondWith = <Body>(body: Body, shown: Shown): OperationResponse<Body> => ({
  body,
  mark: {
    version: shown.submission.version,
    updatedAt: shown.submission.updatedAt,
    ...(shown.token !== undefined && { resumeToken: shown.token }),
  },
  definition: shown.intake.definition,
});

export function createdBody(shown: Shown): CreateSubmissionResponse {
  const { submission, intake } = shown;
  return {
    ...markOf(shown),
    intakeId: submission.intakeId,
    schema: intake.definition.schema,
    fields: fieldsOf(shown),
    ...findingsOf(shown),
    ...(isEditable(submission.state) && { expiresAt: toIso(submission.expiresAt) }),
    replayCount: submission.replayCount,
    originalTimestamp: toIso(submission.createdAt),
  };
}
