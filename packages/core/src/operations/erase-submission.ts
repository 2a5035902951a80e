import type { EraseSubmissionResponse } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { toIso } from "../domain/instant.ts";
import { askAdmin } from "../domain/next-actions.ts";
import { refuseStaleToken } from "../domain/tokens/refuse-stale-token.ts";
import type { Context } from "./context.ts";
import { recordedActor } from "./identity/actors.ts";
import { hasRole } from "./identity/authenticate.ts";
import { notFound } from "./identity/resolve-target.ts";
import { markOf, type OperationResponse, respondWith, show } from "./read/response.ts";
import { type Readable, runRead } from "./read/run-read.ts";
import { eraseSubmissionNow } from "./write/erase.ts";
import type { WriteCall } from "./write/write-spec.ts";

/**
 * Erases one submission now, at a person's request: nothing is archived, and what was archived before is removed too.
 * Repeating it completes what is left and returns the same.
 */
export async function eraseSubmission(
  context: Context,
  call: WriteCall,
): Promise<OperationResponse<EraseSubmissionResponse>> {
  return await runRead(context, call, { operation: "eraseSubmission", use: (found) => erase(context, call, found) });
}

async function erase(
  context: Context,
  call: WriteCall,
  found: Readable,
): Promise<OperationResponse<EraseSubmissionResponse>> {
  const { deps } = context;
  const { principal, intake, now } = found;
  if (principal === undefined || !hasRole(principal, "admin")) {
    throw new ContractError("forbidden", "Erasing needs the role admin.", { nextActions: askAdmin() });
  }
  const actor = recordedActor(principal, call.actor, { required: false });
  // An ended submission keeps its version, so a caller who names another one means a different state.
  const stale = refuseStaleToken(found.submission, { versions: call.target.versions }, { intake, mayLearn: true });
  if (stale !== undefined) throw stale;
  const { tenant, submissionId, intakeId } = found.submission;
  const submission = await eraseSubmissionNow(context, { tenant, submissionId, actor, archives: false });
  if (submission?.erasedAt === undefined) throw notFound();
  await deps.archive?.drop({ tenant, intakeId, submissionId });
  const shown = show(deps, { submission, intake, now });
  return respondWith({ ...markOf(shown), erasedAt: toIso(submission.erasedAt) }, shown);
}
