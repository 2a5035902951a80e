import type { AbandonUploadResponse } from "@formbridge/contract";
import { decideAbandonUpload } from "../domain/decide/abandon-upload.ts";
import type { Context } from "./context.ts";
import { pendingOf } from "./read/record.ts";
import { findingsOf, markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type AbandonUploadCall = WriteCall & { uploadId: string };

/** Abandons a pending upload. A job of the same commit removes what was sent of the file. */
export async function abandonUpload(
  context: Context,
  call: AbandonUploadCall,
): Promise<OperationResponse<AbandonUploadResponse>> {
  const { uploadId } = call;
  return await runWrite(context, call, {
    operation: "abandonUpload",
    actorRequired: true,
    decide: (submission, decideContext) => decideAbandonUpload(submission, uploadId, decideContext),
    body: (shown) => ({ ...markOf(shown), uploadId, ...findingsOf(shown), ...pendingOf(shown, "masked") }),
  });
}
