import { type ResumeLinkResponse, SUBMISSION_ID_PATTERN } from "@formbridge/contract";
import type { Context } from "./context.ts";
import { malformedToken } from "./identity/resolve-target.ts";
import type { OperationResponse } from "./read/response.ts";

const WELL_FORMED = new RegExp(SUBMISSION_ID_PATTERN);

/**
 * What a link returns to a client that isn't a browser. Looks nothing up, so it uses nothing up and is the same for
 * every id.
 */
export async function describeLink(
  _context: Context,
  link: { submissionId: string; opensWith: "session" | "code" },
): Promise<OperationResponse<ResumeLinkResponse>> {
  const { submissionId, opensWith } = link;
  if (!WELL_FORMED.test(submissionId)) throw malformedToken();
  const path = `/submissions/${submissionId}/sessions`;
  return { body: { ok: true, submissionId, opensWith, exchange: { method: "POST", path } } };
}
