import type { HandoffView, ListHandoffsResponse } from "@formbridge/contract";
import type { Handoff } from "../domain/handoffs/handoff.ts";
import { statusOf } from "../domain/handoffs/sessions.ts";
import { toIso } from "../domain/instant.ts";
import { staleReader } from "./get-events.ts";
import { type Answer, answerWith, markOf, type Shown } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { openNote } from "./support/handoff-links.ts";
import { mayHoldToken, requireHolder } from "./support/resolve-target.ts";
import { type ReadCall, runRead } from "./support/run-read.ts";

/** Who was given the submission, and who came. Links are not told again: only their hashes are kept. */
export async function listHandoffs(context: Context, call: ReadCall): Promise<Answer<ListHandoffsResponse>> {
  const { deps } = context;
  const found = await runRead(context, call, "listHandoffs");
  const { submission, intake, now, readToken } = found;
  requireHolder(found);
  if (found.token?.standing === "stale" && !mayHoldToken(found.principal, submission)) throw staleReader(submission);
  const { policy } = deps.settings;
  const shown: Shown = { submission, intake, now, policy, ...(readToken !== undefined && { token: readToken }) };
  const rows = await deps.backend.handoffs.ofSubmission(submission.submissionId);
  return answerWith({ ...markOf(shown), items: rows.map((row) => viewOf(context, row, shown)) }, shown);
}

function viewOf({ deps }: Context, handoff: Handoff, { submission, now, policy }: Shown): HandoffView {
  const { handoffId, kind, createdBy, allowedActors, revokedAt } = handoff;
  const { email } = openNote(deps.sealer, handoff);
  return {
    handoffId,
    kind,
    status: statusOf(handoff, submission, { now, policy }),
    createdAt: toIso(handoff.createdAt),
    createdBy,
    expiresAt: toIso(handoff.expiresAt),
    ...(revokedAt !== undefined && { revokedAt: toIso(revokedAt) }),
    ...(allowedActors && { allowedActors }),
    ...(email !== undefined && { recipientEmail: email }),
    sessions: handoff.sessions.map(({ actor, openedAt, expiresAt }) => ({
      actor,
      openedAt: toIso(openedAt),
      expiresAt: toIso(expiresAt),
    })),
  };
}
