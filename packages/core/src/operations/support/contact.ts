import type { Actor } from "@formbridge/contract";
import { addressOf } from "../../domain/review/reviewers.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "./context.ts";
import { openNote } from "./handoff-links.ts";

/** An address that somebody merely declared may be anybody's: no mail goes there. */
const provenAddress = (actor: Actor): string | undefined =>
  actor.kind === "system" || actor.declared === true ? undefined : addressOf(actor);

/**
 * Where the news of a submission goes: to whoever submitted it, or worked on it last; else to whom it was handed by mail, and who
 * opened it; else to whoever created it. Undefined when nobody left an address that is theirs.
 */
export async function contactOf({ deps }: Context, submission: Submission): Promise<string | undefined> {
  const { submittedBy, lastUpdatedBy, createdBy, submissionId } = submission;
  const own = provenAddress(submittedBy ?? lastUpdatedBy);
  if (own !== undefined) return own;
  const handoffs = await deps.backend.handoffs.ofSubmission(submissionId);
  const opened = handoffs.find(
    ({ kind, sessions, revokedAt }) => kind === "magic_link" && sessions.length > 0 && revokedAt === undefined,
  );
  return (opened && openNote(deps.sealer, opened).email) ?? provenAddress(createdBy);
}
