import type { RequestUploadResponse } from "@formbridge/contract";
import { decideRequestUpload, type RequestUpload } from "../domain/decide/request-upload.ts";
import { ContractError } from "../domain/error.ts";
import type { Submission, Upload } from "../domain/submission.ts";
import type { Deps } from "./deps.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { fileOf, inContract, requireStorage, signedUrl } from "./support/files.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export type RequestUploadCall = WriteCall & { upload: RequestUpload };

type Signed = Pick<RequestUploadResponse, "method" | "url" | "headers" | "resumable">;

export async function requestUpload(context: Context, call: RequestUploadCall): Promise<Answer<RequestUploadResponse>> {
  const { deps } = context;
  let granted: { upload: Upload; signed: Signed } | undefined;
  return await runWrite(context, call, {
    operation: "requestUpload",
    actorRequired: true,
    async decide(submission, decideContext) {
      const decision = decideRequestUpload(submission, call.upload, decideContext);
      const [event] = decision.events;
      if (event?.type === "upload.requested") {
        refuseTooLarge(deps, event.upload);
        granted = { upload: event.upload, signed: await sign(deps, submission, event.upload) };
      }
      return decision;
    },
    body(shown) {
      if (granted === undefined) throw new Error("an upload was recorded that nobody signed");
      const { upload, signed } = granted;
      const { accept = [], maxBytes = 0 } = shown.intake.ruleAt(shown.intake.pathOf(upload.field)).file ?? {};
      const most = Math.min(maxBytes, deps.uploads?.maxBytes ?? maxBytes);
      return {
        ...markOf(shown),
        uploadId: upload.uploadId,
        ...signed,
        expiresInMs: upload.expiresAt - shown.now,
        constraints: { accept, maxBytes: most },
      };
    },
  });
}

function refuseTooLarge({ uploads }: Deps, { field, sizeBytes }: Upload): void {
  const { maxBytes } = requireStorage(uploads);
  if (sizeBytes <= maxBytes) return;
  const message = `This server takes files of at most ${maxBytes} bytes.`;
  const problem = { path: field, code: "file_too_large" as const, message, expected: maxBytes, received: sizeBytes };
  throw new ContractError("invalid", message, { fields: [problem] });
}

/** The way for the whole file at once, and the way on which a broken line costs only what it lost. */
async function sign(deps: Deps, submission: Submission, upload: Upload): Promise<Signed> {
  const { way } = requireStorage(deps.uploads);
  const { uploadId, sizeBytes, mimeType, expiresAt, requestedAt } = upload;
  const name = fileOf(submission, uploadId);
  const grant = { ...name, sizeBytes, mimeType, expiresAt };
  if (way.kind === "direct") {
    const signed = await inContract(way.signPut({ name, sizeBytes, mimeType }, expiresAt - requestedAt));
    const url = await signedUrl(deps, { ...grant, use: "parts" });
    return { method: "PUT", ...signed, resumable: { protocol: "s3-multipart", url } };
  }
  return {
    method: "PUT",
    url: await signedUrl(deps, { ...grant, use: "put" }),
    headers: { "Content-Type": mimeType, "Content-Length": String(sizeBytes) },
    resumable: { protocol: "tus", url: await signedUrl(deps, { ...grant, use: "resume" }) },
  };
}
