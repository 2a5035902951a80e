import { ContractError } from "../domain/error.ts";
import { plainType } from "../domain/files/content-type.ts";
import { endedError } from "../domain/tokens/refuse-ended.ts";
import { refuseLocked } from "../domain/tokens/refuse-locked.ts";
import type { AnnouncedFile, ReceivingWay } from "../ports/uploads.ts";
import type { UploadGrant } from "../vault/upload-grants.ts";
import type { Answer } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { fileOf, type GrantCall, inContract, openGrant, requireStorage } from "./support/files.ts";

/** Opens a signed URL by which a file comes in: the submission must still want it. */
export async function openIncoming(
  context: Context,
  call: GrantCall,
  use: UploadGrant["use"],
): Promise<{ file: AnnouncedFile; grant: UploadGrant; leftMs: number }> {
  const { grant, submission, upload, now } = await openGrant(context, call, use);
  const refusal = endedError(submission, now) ?? refuseLocked(submission);
  if (refusal !== undefined) throw refusal;
  if (upload.confirmed !== undefined) throw confirmedAlready();
  const { uploadId, sizeBytes, mimeType } = upload;
  const leftMs = upload.expiresAt + context.deps.settings.policy.uploadGraceMs - now;
  return { file: { name: fileOf(submission, uploadId), sizeBytes, mimeType }, grant, leftMs };
}

/** A client may be slow, but not so slow that its file would be taken away before it is there. */
export async function* inTime(bytes: AsyncIterable<Uint8Array>, leftMs: number): AsyncGenerator<Uint8Array> {
  const end = performance.now() + leftMs;
  for await (const piece of bytes) {
    if (performance.now() > end) {
      throw new ContractError("token_expired", "The URL's time is over, and so is that of its file.", {
        reason: "ttl_elapsed",
      });
    }
    yield piece;
  }
}

const confirmedAlready = (): ContractError => new ContractError("conflict", "The upload is already confirmed.");

export function throughUs(context: Context): ReceivingWay {
  const { way } = requireStorage(context.deps.uploads);
  if (way.kind !== "through_us") throw new ContractError("not_found", "Files do not pass through this server.");
  return way;
}

export interface ReceiveUploadCall extends GrantCall {
  contentLength?: number;
  contentType?: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** The whole file in one go. What is not the announced file leaves nothing behind. */
export async function receiveUpload(
  context: Context,
  call: ReceiveUploadCall,
): Promise<Answer<{ ok: true; submissionId: string; uploadId: string; sizeBytes: number }>> {
  const { file, leftMs } = await openIncoming(context, call, "put");
  const way = throughUs(context);
  refuseOther(file, call);
  await refuseSealed(way, file);
  await inContract(way.receive(file, inTime(call.bytes, leftMs), { from: 0, isWhole: true }));
  const { submissionId, uploadId } = file.name;
  return { body: { ok: true, submissionId, uploadId, sizeBytes: file.sizeBytes } };
}

export async function refuseSealed(way: ReceivingWay, file: AnnouncedFile): Promise<{ bytes: number }> {
  const { bytes, sealed } = await inContract(way.received(file.name));
  if (sealed) {
    throw new ContractError("conflict", "The file is being confirmed.", {
      about: { submissionId: file.name.submissionId },
    });
  }
  return { bytes };
}

/** Before a byte is read. */
function refuseOther({ sizeBytes, mimeType }: AnnouncedFile, { contentLength, contentType }: ReceiveUploadCall): void {
  if (contentLength === undefined) {
    throw new ContractError("bad_request", `Content-Length is missing; ${sizeBytes} bytes were announced.`);
  }
  if (contentLength > sizeBytes) {
    throw new ContractError("payload_too_large", `${sizeBytes} bytes were announced, not ${contentLength}.`);
  }
  if (contentLength < sizeBytes) {
    throw new ContractError("bad_request", `${sizeBytes} bytes were announced, not ${contentLength}.`);
  }
  if (contentType === undefined || plainType(contentType) !== plainType(mimeType)) {
    throw new ContractError("unsupported_media_type", `Content-Type must be ${plainType(mimeType)}, as announced.`);
  }
}
