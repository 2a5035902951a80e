import type { GetUploadResponse } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { isMaskedAt } from "../domain/fields/mask.ts";
import { notConfirmed, unknownUpload } from "../domain/files/refusals.ts";
import type { Submission } from "../domain/submission.ts";
import { aboutOf } from "../domain/tokens/refuse-ended.ts";
import type { Context } from "./context.ts";
import { linkTo } from "./files/file-links.ts";
import { staleReader } from "./get-events.ts";
import { markOf, type OperationResponse, respondWith, show } from "./read/response.ts";
import { type Readable, type ReadCall, runRead } from "./read/run-read.ts";

export type GetUploadCall = ReadCall & { uploadId: string };

/** That the file exists is no secret: readers of the submission see its masked value. */
const sensitiveFile = (submission: Submission): ContractError =>
  new ContractError(
    "forbidden",
    "This file is sensitive. Only humans in a session, reviewers and admins can open it.",
    {
      about: aboutOf(submission),
      nextActions: [{ action: "request_handoff", hint: "Hand the submission over to a human, who may see the file." }],
    },
  );

/** A short-lived URL for a confirmed file, for callers who may see its value. */
export async function getUpload(context: Context, call: GetUploadCall): Promise<OperationResponse<GetUploadResponse>> {
  return await runRead(context, call, {
    operation: "getUpload",
    use: (found) => signDownload(context, call, found),
  });
}

async function signDownload(
  { deps }: Context,
  call: GetUploadCall,
  found: Readable,
): Promise<OperationResponse<GetUploadResponse>> {
  const { submission, intake, now, sight } = found;
  if (sight === "state") throw staleReader(submission);
  const upload = submission.uploads.find(({ uploadId }) => uploadId === call.uploadId);
  const file = upload?.confirmed;
  if (upload === undefined) throw unknownUpload(submission, call.uploadId, { intake, now });
  if (file === undefined) throw notConfirmed(submission, upload, intake);
  if (sight === "masked" && isMaskedAt(intake.pathOf(upload.field), intake)) {
    throw sensitiveFile(submission);
  }
  const shown = show(deps, found, found.held);
  return respondWith({ ...markOf(shown), ...(await linkTo(deps, { submission, file, now })) }, shown);
}
