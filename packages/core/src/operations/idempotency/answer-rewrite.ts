import type { SubmitResponse } from "@formbridge/contract";
import type { Decision } from "../../domain/decide/decision.ts";
import { deliveryMark } from "../../domain/delivery/delivery-state.ts";
import type { KeyRecord } from "../../domain/idempotency/key-record.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { KeyWrite } from "../../ports/store.ts";
import type { Context } from "../context.ts";
import { resumeUrlOf } from "../links/handoff-links.ts";
import { type LoadedSubmission, loadSubmission } from "../read/load-submission.ts";
import { boundToAnswer } from "../read/open-snapshot.ts";
import type { CommitInput } from "../write/commit.ts";
import { openAnswer } from "./keyed.ts";

type Rewrite = Pick<CommitInput, "keyWrite" | "notAfter">;

/**
 * A submit that waits for its delivery responds with the outcome of the first attempt: that attempt's commit replaces
 * the record. No response was sent before `by`, and the commit can't happen after it.
 */
export async function answerRewrite(context: Context, found: LoadedSubmission, { events }: Decision): Promise<Rewrite> {
  const { submission, now } = found;
  const { answer } = submission.delivery ?? {};
  const isOutcome = events.some(({ type }) => type === "delivery.succeeded" || type === "delivery.failed");
  if (answer === undefined || !isOutcome || now >= answer.by) return {};
  const loaded = await loadSubmission(context, submission, { operation: "submit", hash: answer.key });
  const record = loaded?.record;
  // A replay may have raised the revision; check the record here, and let the commit check the revision.
  if (record === undefined || record.submissionId !== submission.submissionId || record.failed) return {};
  return { notAfter: answer.by - 1, keyWrite: (after, token) => rewritten(context, { record, after, token, now }) };
}

function rewritten(
  { deps }: Context,
  { record, after, token, now }: { record: KeyRecord; after: Submission; token: string | undefined; now: Instant },
): KeyWrite {
  const { submissionId: _, recordedAt: _at, ...kept } = record;
  const recorded = openAnswer(deps, record, after.tenant);
  if (!("body" in recorded)) throw new Error("a submit that failed waits for no delivery");
  const { warning: _said, resumeToken, resumeUrl, tokenExpiresAt, ...body } = recorded.body as SubmitResponse;
  // A caller whose token was revoked since isn't given another.
  const isRevoked = after.tokensRevoked || after.epochSince > record.recordedAt;
  const held =
    token === undefined
      ? { resumeToken, resumeUrl, tokenExpiresAt }
      : {
          resumeToken: token,
          resumeUrl: resumeUrlOf(deps.publicUrl(), token),
          tokenExpiresAt: toIso(after.token.expiresAt),
        };
  const answer = {
    ...(recorded.eventId !== undefined && { eventId: recorded.eventId }),
    body: {
      ...body,
      state: after.state,
      version: after.version,
      ...deliveryMark(after),
      ...(after.state === "finalized" && { finalizedAt: toIso(now) }),
      ...(resumeToken !== undefined && !isRevoked && held),
    },
  };
  return {
    ...kept,
    answer: deps.sealer.seal(JSON.stringify(answer), boundToAnswer(after)),
    replaces: record.fingerprint,
  };
}
