import type { SubmissionRecord } from "@formbridge/contract";
import { type Answer, answerWith, type Shown } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { recordOf } from "./support/record.ts";
import { type ReadCall, runRead } from "./support/run-read.ts";

export interface GetSubmissionCall extends ReadCall {
  /** A token that the reader has: if nothing was committed since it was issued, there is nothing to send. */
  unlessChangedSince?: string;
}

export interface SubmissionRead extends Answer<SubmissionRecord> {
  notModified?: true;
}

export async function getSubmission(context: Context, call: GetSubmissionCall): Promise<SubmissionRead> {
  const found = await runRead(context, call, "getSubmission");
  const { submission, intake, now, readToken, sight } = found;
  const { policy } = context.deps.settings;
  const shown: Shown = { submission, intake, now, policy, ...(readToken !== undefined && { token: readToken }) };
  const answer = answerWith(recordOf(shown, sight), shown);
  const isSame = call.unlessChangedSince === (readToken ?? String(submission.version));
  return isSame && submission.head.seq === submission.token.seq ? { ...answer, notModified: true } : answer;
}
