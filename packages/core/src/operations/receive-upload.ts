import { ContractError } from "../domain/error.ts";
import { plainType } from "../domain/files/content-type.ts";
import { wantedUntil } from "../domain/files/fate.ts";
import { alreadyConfirmed, unknownUpload } from "../domain/files/refusals.ts";
import { endedError } from "../domain/tokens/refuse-ended.ts";
import { refuseLocked } from "../domain/tokens/refuse-locked.ts";
import type { AnnouncedFile, FileName, ReceivingWay } from "../ports/uploads.ts";
import type { UploadGrant } from "../vault/upload-grants.ts";
import type { Context } from "./context.ts";
import { fileOf, type GrantCall, type Granted, inContract, openGrant, requireStorage } from "./files/files.ts";
import { loadSubmission } from "./read/load-submission.ts";
import type { OperationResponse } from "./read/response.ts";

export interface Incoming {
  file: AnnouncedFile;
  grant: UploadGrant;
  leftMs: number;
  explain: Granted["explain"];
}

/** Checks a signed upload URL: the submission must still want the file. */
export async function openIncoming(context: Context, call: GrantCall, use: UploadGrant["use"]): Promise<Incoming> {
  const { grant, submission, upload, intake, now, explain } = await openGrant(context, call, use);
  const refusal = endedError(submission, now) ?? refuseLocked(submission);
  if (refusal !== undefined) throw refusal;
  if (upload.confirmed !== undefined) throw alreadyConfirmed(submission, upload, intake);
  const { uploadId, sizeBytes, mimeType } = upload;
  const leftMs = wantedUntil(upload, context.deps.settings.policy) - now;
  return { file: { name: fileOf(submission, uploadId), sizeBytes, mimeType }, grant, leftMs, explain };
}

/** A client may be slow, but not so slow that the file would be collected before it is complete. */
export async function* inTime(bytes: AsyncIterable<Uint8Array>, leftMs: number): AsyncGenerator<Uint8Array> {
  const end = performance.now() + leftMs;
  for await (const piece of bytes) {
    if (performance.now() > end) {
      throw new ContractError("token_expired", "The upload URL has expired. Announce the file again.", {
        reason: "ttl_elapsed",
        nextActions: [{ action: "request_upload", hint: "Announce the file again to get a new URL." }],
      });
    }
    yield piece;
  }
}

/**
 * Removes what arrived for an upload that was superseded or abandoned meanwhile, because the job of that commit may
 * have run before the first byte came. Receives with `receive` and returns its result.
 */
export async function stillWanted<T>(context: Context, name: FileName, receive: () => Promise<T>): Promise<T> {
  const outcome = await receive().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const found = await loadSubmission(context, name);
  const { uploadId } = name;
  if (found !== undefined && !found.submission.uploads.some((known) => known.uploadId === uploadId)) {
    await inContract(requireStorage(context.deps.uploads).drop(name));
    throw unknownUpload(found.submission, uploadId, found);
  }
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

export function throughUs(context: Context): ReceivingWay {
  const { way } = requireStorage(context.deps.uploads);
  if (way.kind !== "through_us")
    throw new ContractError(
      "not_found",
      "Files don't pass through this server. Use the URL that requestUpload returned.",
    );
  return way;
}

export interface ReceiveUploadCall extends GrantCall {
  contentLength?: number;
  contentType?: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** The whole file in one request. Anything but the announced file leaves nothing behind. */
export async function receiveUpload(
  context: Context,
  call: ReceiveUploadCall,
): Promise<OperationResponse<{ ok: true; submissionId: string; uploadId: string; sizeBytes: number }>> {
  const { file, leftMs, explain } = await openIncoming(context, call, "put");
  try {
    const way = throughUs(context);
    refuseOther(file, call);
    await refuseSealed(way, file);
    const bytes = inTime(call.bytes, leftMs);
    await stillWanted(context, file.name, () => inContract(way.receive(file, bytes, { from: 0, isWhole: true })));
  } catch (error) {
    throw explain(error);
  }
  const { submissionId, uploadId } = file.name;
  return { body: { ok: true, submissionId, uploadId, sizeBytes: file.sizeBytes } };
}

export async function refuseSealed(way: ReceivingWay, file: AnnouncedFile): Promise<{ bytes: number }> {
  const { bytes, sealed } = await inContract(way.received(file.name));
  if (sealed) {
    throw new ContractError("conflict", "The file is being confirmed.", {
      about: { submissionId: file.name.submissionId },
      nextActions: [{ action: "fetch_current_state", hint: "Read the submission to see the outcome." }],
    });
  }
  return { bytes };
}

/** Checked before reading the body. */
function refuseOther({ sizeBytes, mimeType }: AnnouncedFile, { contentLength, contentType }: ReceiveUploadCall): void {
  if (contentLength === undefined) {
    throw new ContractError(
      "bad_request",
      `Content-Length is missing. Send exactly the ${sizeBytes} bytes that were announced.`,
    );
  }
  if (contentLength > sizeBytes) {
    throw new ContractError(
      "payload_too_large",
      `Content-Length is ${contentLength}, but ${sizeBytes} bytes were announced.`,
    );
  }
  if (contentLength < sizeBytes) {
    throw new ContractError(
      "bad_request",
      `Content-Length is ${contentLength}, but ${sizeBytes} bytes were announced.`,
    );
  }
  if (contentType === undefined || plainType(contentType) !== plainType(mimeType)) {
    throw new ContractError("unsupported_media_type", `Content-Type must be ${plainType(mimeType)}, as announced.`);
  }
}
