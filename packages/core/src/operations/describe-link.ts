import { type ResumeLinkResponse, SUBMISSION_ID_PATTERN } from "@formbridge/contract";
import type { Answer } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { malformedToken } from "./support/resolve-target.ts";

const WELL_FORMED = new RegExp(SUBMISSION_ID_PATTERN);

/** What a link says to a client that is no browser. Looks nothing up: it spends nothing, and is the same for every id. */
export async function describeLink(
  _context: Context,
  link: { submissionId: string; opensWith: "session" | "code" },
): Promise<Answer<ResumeLinkResponse>> {
  const { submissionId, opensWith } = link;
  if (!WELL_FORMED.test(submissionId)) throw malformedToken();
  const path = `/submissions/${submissionId}/sessions`;
  return { body: { ok: true, submissionId, opensWith, exchange: { method: "POST", path } } };
}
