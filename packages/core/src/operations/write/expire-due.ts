import { decideExpire, decideLapse, isDue, TTL_ENFORCER } from "../../domain/decide/expire.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Deps } from "../deps.ts";
import { commitDecision } from "./commit.ts";

const expireToken = <T>({ tracing }: Deps, { submissionId, version }: Submission, work: () => Promise<T>): Promise<T> =>
  tracing.span("expireToken", work, { "submission.id": submissionId, "token.version": version });

/** Records once that the current token has lapsed. Returns true if the caller must load again. */
export async function lapseIfDue(
  deps: Deps,
  found: { submission: Submission; intake: CompiledIntake; now: Instant },
): Promise<boolean> {
  const { submission: before, intake, now } = found;
  const decision = decideLapse(before, { now, policy: deps.settings.policy });
  if (decision === undefined) return false;
  const about = { operation: "lapse", before, decision, actor: TTL_ENFORCER, now, intake };
  await expireToken(deps, before, () => commitDecision(deps, { ...about, ignoresDeadline: true }));
  return true;
}

/**
 * Expiry is enforced on access too, so that nobody sees an open submission past its deadline. Returns true if the
 * caller must look again: it was expired now, or changed meanwhile.
 */
export async function expireIfDue(
  deps: Deps,
  found: { submission: Submission; intake: CompiledIntake; now: Instant },
): Promise<boolean> {
  const { submission, intake, now } = found;
  if (!isDue(submission, now, deps.settings.policy)) return false;
  const about = { operation: "expire", before: submission, decision: decideExpire(submission), now, intake };
  const outcome = await expireToken(deps, submission, () =>
    commitDecision(deps, { ...about, actor: TTL_ENFORCER, ignoresDeadline: true }),
  );
  if (outcome.committed.kind === "committed") deps.instrumentation.record({ name: "swept", what: "expired", count: 1 });
  return true;
}
