import type { GetUploadResponse } from "@formbridge/contract";
import { isMaskedAt } from "../domain/fields/mask.ts";
import { servedType } from "../domain/files/content-type.ts";
import { attachment } from "../domain/files/display-name.ts";
import { toIso } from "../domain/instant.ts";
import { staleReader } from "./get-events.ts";
import { type Answer, answerWith, markOf, type Shown } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { fileOf, inContract, noUpload, requireStorage, signedUrl } from "./support/files.ts";
import { type ReadCall, runRead } from "./support/run-read.ts";

export type GetUploadCall = ReadCall & { uploadId: string };

/** A URL that gives a confirmed file for a short while, to whoever sees the value that it belongs to. */
export async function getUpload(context: Context, call: GetUploadCall): Promise<Answer<GetUploadResponse>> {
  const { deps } = context;
  const found = await runRead(context, call, "getUpload");
  const { submission, intake, now, sight, readToken } = found;
  if (sight === "state") throw staleReader(submission);
  const upload = submission.uploads.find(({ uploadId }) => uploadId === call.uploadId);
  const file = upload?.confirmed;
  if (upload === undefined || file === undefined) throw noUpload();
  if (sight === "masked" && isMaskedAt(intake.pathOf(upload.field), intake)) throw noUpload();
  const { way } = requireStorage(deps.uploads);
  const { policy } = deps.settings;
  const { filename, mimeType, sizeBytes, sha256, uploadId } = file;
  const name = fileOf(submission, uploadId);
  const expiresAt = now + policy.downloadTtlMs;
  const as = { disposition: attachment(filename), mimeType: servedType(mimeType), ttlMs: policy.downloadTtlMs };
  const url =
    way.kind === "direct"
      ? await inContract(way.signGet(name, as))
      : await signedUrl(deps, { ...name, use: "get", sizeBytes, mimeType, expiresAt });
  const shown: Shown = { submission, intake, now, policy, ...(readToken !== undefined && { token: readToken }) };
  const told = { uploadId, url, expiresAt: toIso(expiresAt), filename, mimeType, sizeBytes, sha256 };
  return answerWith({ ...markOf(shown), ...told }, shown);
}
