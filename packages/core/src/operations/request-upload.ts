import type { RequestUploadResponse } from "@formbridge/contract";
import type { Decision } from "../domain/decide/decision.ts";
import { decideRequestUpload, type RequestUpload } from "../domain/decide/request-upload.ts";
import { ContractError } from "../domain/error.ts";
import { announceAction } from "../domain/files/refusals.ts";
import type { CompiledIntake } from "../domain/intake/compiled-intake.ts";
import type { Submission, Upload } from "../domain/submission.ts";
import type { Context } from "./context.ts";
import type { Deps } from "./deps.ts";
import { fileOf, inContract, requireStorage, signedUrl } from "./files/files.ts";
import { takeQuota } from "./files/upload-quotas.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type RequestUploadCall = WriteCall & { upload: RequestUpload };

type Signed = Pick<RequestUploadResponse, "method" | "url" | "headers" | "resumable">;

export async function requestUpload(
  context: Context,
  call: RequestUploadCall,
): Promise<OperationResponse<RequestUploadResponse>> {
  const { deps } = context;
  let granted: { upload: Upload; signed: Signed } | undefined;
  let isCounted = false;
  return await runWrite(context, call, {
    operation: "requestUpload",
    actorRequired: true,
    async decide(submission, decideContext, { principal }) {
      const anonymous = principal === undefined && submission.createdByKey === undefined;
      const command = { ...call.upload, ...(anonymous && { anonymous: true as const }) };
      const decision = decideRequestUpload(submission, command, decideContext);
      const requested = decision.events.find((event) => event.type === "upload.requested");
      if (requested !== undefined) {
        const { upload } = requested;
        refuseTooLarge(deps, upload, decideContext.intake);
        const { intake, now } = decideContext;
        const releasedBytes = bytesOfGone(submission, decision);
        const { caller } = call;
        if (!isCounted) await takeQuota(context, { submission, intake, upload, releasedBytes, caller, now });
        isCounted = true;
        granted = { upload, signed: await sign(deps, submission, upload) };
      }
      return decision;
    },
    body(shown) {
      if (granted === undefined) throw new Error("an upload was recorded without signing its URLs");
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

function bytesOfGone({ uploads }: Submission, { events }: Decision): number {
  const gone = events.flatMap((event) => (event.type === "upload.abandoned" ? [event.uploadId] : []));
  return uploads.reduce((sum, { uploadId, sizeBytes }) => sum + (gone.includes(uploadId) ? sizeBytes : 0), 0);
}

function refuseTooLarge({ uploads }: Deps, { field, sizeBytes }: Upload, intake: CompiledIntake): void {
  const { maxBytes } = requireStorage(uploads);
  if (sizeBytes <= maxBytes) return;
  const message = `This server takes files of at most ${maxBytes} bytes.`;
  const problem = { path: field, code: "file_too_large" as const, message, expected: maxBytes, received: sizeBytes };
  const nextActions = [{ ...announceAction(field, message, intake), maxBytes }];
  throw new ContractError("invalid", message, { fields: [problem], nextActions });
}

/** A URL for uploading the file at once, and one for a resumable upload. */
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
