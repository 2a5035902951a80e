import type { SubmitResponse } from "@formbridge/contract";
import type { Decision } from "../../domain/decide/decision.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { KeyRecord, KeyWrite } from "../../ports/store.ts";
import type { CommitInput } from "./commit.ts";
import type { Context } from "./context.ts";
import { openAnswer } from "./keyed.ts";
import { loadOpened, type Opened } from "./load-opened.ts";
import { boundToAnswer } from "./open-snapshot.ts";

type Rewrite = Pick<CommitInput, "keyWrite" | "notAfter">;

/**
 * A submit that still waits for its delivery answers with the end that this decision brings: its record is replaced in the same
 * commit. Nobody has been answered before `by`, and the commit does not happen after it.
 */
export async function answerRewrite(context: Context, found: Opened, { events }: Decision): Promise<Rewrite> {
  const { submission, now } = found;
  const { answer } = submission.delivery ?? {};
  const isEnd = events.some(({ type }) => type === "submission.finalized");
  if (answer === undefined || !isEnd || now >= answer.by) return {};
  const loaded = await loadOpened(context, submission, { operation: "submit", hash: answer.key });
  const record = loaded?.record;
  // A replay may have moved the revision since: what counts is the record, and the commit looks at the revision itself.
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
  const { warning: _said, resumeToken, tokenExpiresAt: _until, ...body } = recorded.body as SubmitResponse;
  // Whoever held a token that was revoked since is told no other.
  const isRevoked = after.tokensRevoked || after.epochSince > record.recordedAt;
  const holdsToken = resumeToken !== undefined && token !== undefined && !isRevoked;
  const answer = {
    body: {
      ...body,
      state: after.state,
      version: after.version,
      finalizedAt: toIso(now),
      ...(holdsToken && { resumeToken: token, tokenExpiresAt: toIso(after.token.expiresAt) }),
    },
  };
  return {
    ...kept,
    answer: deps.sealer.seal(JSON.stringify(answer), boundToAnswer(after)),
    replaces: record.fingerprint,
  };
}
