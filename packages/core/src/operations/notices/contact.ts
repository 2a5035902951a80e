import type { Actor } from "@formbridge/contract";
import type { Handoff } from "../../domain/handoffs/handoff.ts";
import { addressOf } from "../../domain/review/reviewers.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import { isSameActor } from "../identity/actors.ts";
import { openNote } from "../links/handoff-links.ts";

/**
 * The address for notices about a submission: of whoever submitted it or last worked on it; else of whoever opened the
 * link mailed to them; else of its creator. Undefined if nobody has a verified address.
 */
export async function contactOf({ deps }: Context, submission: Submission): Promise<string | undefined> {
  const { submittedBy, lastUpdatedBy, createdBy, submissionId } = submission;
  const handoffs = await deps.backend.handoffs.ofSubmission(submissionId);
  const mailed = (handoff: Handoff): string | undefined =>
    handoff.kind === "magic_link" && handoff.sessions.length > 0 && handoff.revokedAt === undefined
      ? openNote(deps.sealer, handoff).email
      : undefined;
  const proven = (actor: Actor): string | undefined => {
    // A declared address may be anyone's, and so may one given for a hand-off.
    if (actor.kind === "system" || actor.declared === true) return undefined;
    const through = handoffs.find(({ sessions }) => sessions.some((session) => isSameActor(session.actor, actor)));
    return through === undefined ? addressOf(actor) : mailed(through);
  };
  const opened = handoffs.map(mailed).find((email) => email !== undefined);
  return proven(submittedBy ?? lastUpdatedBy) ?? opened ?? proven(createdBy);
}
