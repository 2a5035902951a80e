import type { Actor } from "@formbridge/contract";
import type { Handoff } from "../../domain/handoffs/handoff.ts";
import { addressOf } from "../../domain/review/reviewers.ts";
import type { Submission } from "../../domain/submission.ts";
import { isSameActor } from "./actors.ts";
import type { Context } from "./context.ts";
import { openNote } from "./handoff-links.ts";

/**
 * Where the news of a submission goes: to whoever submitted it, or worked on it last; else to whom it was handed by mail, and who
 * opened it; else to whoever created it. Undefined when nobody left an address that is theirs.
 */
export async function contactOf({ deps }: Context, submission: Submission): Promise<string | undefined> {
  const { submittedBy, lastUpdatedBy, createdBy, submissionId } = submission;
  const handoffs = await deps.backend.handoffs.ofSubmission(submissionId);
  const mailed = (handoff: Handoff): string | undefined =>
    handoff.kind === "magic_link" && handoff.sessions.length > 0 && handoff.revokedAt === undefined
      ? openNote(deps.sealer, handoff).email
      : undefined;
  const proven = (actor: Actor): string | undefined => {
    // An address that somebody merely declared may be anybody's, and so may one that was written into a hand-off.
    if (actor.kind === "system" || actor.declared === true) return undefined;
    const through = handoffs.find(({ sessions }) => sessions.some((session) => isSameActor(session.actor, actor)));
    return through === undefined ? addressOf(actor) : mailed(through);
  };
  const opened = handoffs.map(mailed).find((email) => email !== undefined);
  return proven(submittedBy ?? lastUpdatedBy) ?? opened ?? proven(createdBy);
}
