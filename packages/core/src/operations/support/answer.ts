import type { CreateSubmissionResponse, IntakeDefinition } from "@formbridge/contract";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Submission } from "../../domain/submission.ts";
import { isEditable, isTerminal } from "../../domain/transitions.ts";
import type { RateVerdict } from "../../ports/rate-limiter.ts";

/** What an operation answers, and what a transport may say of it in its own words (headers, `_meta`). */
export interface Answer<Body> {
  body: Body;
  /** The submission as the answer shows it. */
  mark?: { version: number; updatedAt: Instant; resumeToken?: string };
  /** Something new exists now. */
  created?: boolean;
  /** The answer was recorded at this moment, and is given again. */
  replayOf?: Instant;
  /** The definition that the submission was created with, for transports that explain its fields. */
  definition?: IntakeDefinition;
  rate?: RateVerdict;
  /** A session was opened that the transport is to keep for its caller, out of reach of the page's scripts. */
  opened?: { session: string; submissionId: string; ttlMs: number };
}

/** What an answer about a submission is made from. */
export interface Shown {
  submission: Submission;
  intake: CompiledIntake;
  now: Instant;
  policy: Policy;
  /** Only for those who may hold it. */
  token?: string;
}

/** What every answer about a submission carries. */
export function markOf({ submission, token, now, policy }: Shown) {
  const { submissionId, state, version } = submission;
  if (token === undefined) return { ok: true as const, submissionId, state, version };
  const remaining = submission.token.expiresAt - now;
  return {
    ok: true as const,
    submissionId,
    state,
    version,
    resumeToken: token,
    tokenExpiresAt: toIso(submission.token.expiresAt),
    ...(!isTerminal(state) &&
      remaining <= policy.tokenWarningMs && {
        warning: {
          message: `The resume token expires in ${Math.max(0, Math.floor(remaining / 60_000))} minutes.`,
          timeRemaining: Math.max(0, remaining),
        },
      }),
  };
}

export function findingsOf({ submission, intake }: Shown) {
  const { missing, errors } = intake.validate(submission.fields);
  return { missingFields: missing, validationErrors: errors };
}

export const answerWith = <Body>(body: Body, shown: Shown): Answer<Body> => ({
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
    fields: submission.fields,
    ...findingsOf(shown),
    ...(isEditable(submission.state) && { expiresAt: toIso(submission.expiresAt) }),
    replayCount: submission.replayCount,
    originalTimestamp: toIso(submission.createdAt),
  };
}
