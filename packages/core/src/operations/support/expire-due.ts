import { decideExpire, isDue } from "../../domain/decide/expire.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Deps } from "../deps.ts";
import { commitDecision } from "./commit.ts";

export const TTL_ENFORCER = { kind: "system", id: "ttl_enforcer" } as const;

/**
 * Expiry is enforced on access too, so nobody sees an open submission whose time is over. Answers true when the caller must
 * look again: it was expired now, or somebody else moved it meanwhile.
 */
export async function expireIfDue(
  deps: Deps,
  found: { submission: Submission; intake: CompiledIntake; now: Instant },
): Promise<boolean> {
  const { submission, intake, now } = found;
  if (!isDue(submission, now, deps.settings.policy)) return false;
  const outcome = await commitDecision(deps, {
    operation: "expire",
    before: submission,
    decision: decideExpire(submission),
    actor: TTL_ENFORCER,
    now,
    intake,
    ignoresDeadline: true,
  });
  if (outcome.committed.kind === "committed") deps.instrumentation.record({ name: "swept", what: "expired", count: 1 });
  return true;
}
