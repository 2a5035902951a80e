import type { EraseSubmissionResponse } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { toIso } from "../domain/instant.ts";
import { refuseStaleToken } from "../domain/tokens/refuse-stale-token.ts";
import { recordedActor } from "./support/actors.ts";
import { type Answer, answerWith, markOf, type Shown } from "./support/answer.ts";
import { hasRole } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { eraseSubmissionNow } from "./support/erase.ts";
import { notFound } from "./support/resolve-target.ts";
import { runRead } from "./support/run-read.ts";
import type { WriteCall } from "./support/write-spec.ts";

/**
 * Erases one submission now, because a person asks for it: nothing is archived, and what was archived before goes too. Asked
 * again, it makes sure of the rest and answers the same.
 */
export async function eraseSubmission(context: Context, call: WriteCall): Promise<Answer<EraseSubmissionResponse>> {
  const { deps } = context;
  const found = await runRead(context, call, "eraseSubmission");
  const { principal, intake, now } = found;
  if (principal === undefined || !hasRole(principal, "admin")) {
    throw new ContractError("forbidden", "Erasing needs the role admin.");
  }
  const actor = recordedActor(principal, call.actor, { required: false });
  // What has ended keeps its version: whoever names another one means another state of it.
  const stale = refuseStaleToken(found.submission, { versions: call.target.versions }, { intake, mayLearn: true });
  if (stale !== undefined) throw stale;
  const { tenant, submissionId, intakeId } = found.submission;
  const submission = await eraseSubmissionNow(context, { tenant, submissionId, actor, archives: false });
  if (submission?.erasedAt === undefined) throw notFound();
  await deps.archive?.drop({ tenant, intakeId, submissionId });
  const shown: Shown = { submission, intake, now, policy: deps.settings.policy };
  return answerWith({ ...markOf(shown), erasedAt: toIso(submission.erasedAt) }, shown);
}
