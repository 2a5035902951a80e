import type { RequestUploadResponse } from "@formbridge/contract";
import { decideRequestUpload, type RequestUpload } from "../domain/decide/request-upload.ts";
import { ContractError } from "../domain/error.ts";
import type { Upload } from "../domain/submission.ts";
import type { UploadStorage } from "../ports/uploads.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export type RequestUploadCall = WriteCall & { upload: RequestUpload };

/** Files need a place to go: without one, an upload is neither promised nor recorded. */
export function requireStorage(storage: UploadStorage | undefined): UploadStorage {
  if (storage === undefined) {
    throw new ContractError("service_unavailable", "This server has no storage for files.", { retryable: false });
  }
  return storage;
}

export async function requestUpload(context: Context, call: RequestUploadCall): Promise<Answer<RequestUploadResponse>> {
  let granted: { upload: Upload; signed: Awaited<ReturnType<UploadStorage["sign"]>> } | undefined;
  return await runWrite(context, call, {
    operation: "requestUpload",
    actorRequired: true,
    async decide(submission, decideContext) {
      const decision = decideRequestUpload(submission, call.upload, decideContext);
      const [event] = decision.events;
      if (event?.type === "upload.requested") {
        const signed = await requireStorage(context.deps.uploads).sign(event.upload, decideContext.now);
        granted = { upload: event.upload, signed };
      }
      return decision;
    },
    body(shown) {
      if (granted === undefined) throw new Error("an upload was recorded that nobody signed");
      const { upload, signed } = granted;
      const { accept = [], maxBytes = 0 } = shown.intake.ruleAt(upload.field.split(".")).file ?? {};
      return {
        ...markOf(shown),
        uploadId: upload.uploadId,
        ...signed,
        expiresInMs: upload.expiresAt - shown.now,
        constraints: { accept, maxBytes },
      };
    },
  });
}
