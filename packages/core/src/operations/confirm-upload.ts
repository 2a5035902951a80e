import type { ConfirmUploadResponse } from "@formbridge/contract";
import { decideConfirmUpload } from "../domain/decide/confirm-upload.ts";
import { requireStorage } from "./request-upload.ts";
import { type Answer, findingsOf, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export type ConfirmUploadCall = WriteCall & { uploadId: string };

export async function confirmUpload(context: Context, call: ConfirmUploadCall): Promise<Answer<ConfirmUploadResponse>> {
  const { uploadId } = call;
  return await runWrite(context, call, {
    operation: "confirmUpload",
    actorRequired: true,
    async decide(submission, decideContext) {
      const upload = submission.uploads.find((known) => known.uploadId === uploadId && known.confirmed === undefined);
      const arrived = upload === undefined ? undefined : await requireStorage(context.deps.uploads).inspect(upload);
      return decideConfirmUpload(submission, { uploadId, arrived }, decideContext);
    },
    body: (shown) => ({ ...markOf(shown), fields: shown.submission.fields, ...findingsOf(shown) }),
  });
}
