import type { HandoffView, ListHandoffsResponse } from "@formbridge/contract";
import type { Handoff } from "../domain/handoffs/handoff.ts";
import { statusOf } from "../domain/handoffs/sessions.ts";
import { toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { staleReader } from "./get-events.ts";
import { mayHoldToken, requireHolder } from "./identity/access.ts";
import { openNote } from "./links/handoff-links.ts";
import { markOf, type OperationResponse, respondWith, type Shown, show } from "./read/response.ts";
import { type ReadCall, runRead } from "./read/run-read.ts";

/** A submission's hand-offs and their sessions. Links aren't shown again: only their hashes are stored. */
export async function listHandoffs(context: Context, call: ReadCall): Promise<OperationResponse<ListHandoffsResponse>> {
  const { deps } = context;
  return await runRead(context, call, {
    operation: "listHandoffs",
    async use(found) {
      const { submission, token, principal } = found;
      requireHolder(found);
      if (token?.status === "stale" && !mayHoldToken(principal, submission)) throw staleReader(submission);
      const shown = show(deps, found, found.held);
      const rows = await deps.backend.handoffs.ofSubmission(submission.submissionId);
      return respondWith({ ...markOf(shown), items: rows.map((row) => handoffView(context, row, shown)) }, shown);
    },
  });
}

export function handoffView(
  { deps }: Context,
  handoff: Handoff,
  { submission, now, policy }: Pick<Shown, "submission" | "now" | "policy">,
): HandoffView {
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
