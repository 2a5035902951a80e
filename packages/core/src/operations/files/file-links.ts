import type { FileLink, FileReference } from "@formbridge/contract";
import { servedType } from "../../domain/files/content-type.ts";
import { attachment } from "../../domain/files/display-name.ts";
import { isReferred } from "../../domain/files/fate.ts";
import { isSensitiveUpload } from "../../domain/files/sensitive-uploads.ts";
import { toIso } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Deps } from "../deps.ts";
import type { Shown } from "../read/response.ts";
import type { Sight } from "../read/run-read.ts";
import { fileOf, inContract, requireStorage, signedUrl } from "./files.ts";

/** A short-lived download URL for a confirmed file, usable by anyone who has it. */
export async function linkTo(
  deps: Deps,
  { submission, file, now }: { submission: Submission; file: FileReference; now: number },
): Promise<Omit<FileLink, "field">> {
  const { way } = requireStorage(deps.uploads);
  const { downloadTtlMs: ttlMs } = deps.settings.policy;
  const { filename, mimeType, sizeBytes, sha256, uploadId } = file;
  const name = fileOf(submission, uploadId);
  const expiresAt = now + ttlMs;
  const as = { disposition: attachment(filename), mimeType: servedType(mimeType), ttlMs };
  const url =
    way.kind === "direct"
      ? await inContract(way.signGet(name, as))
      : await signedUrl(deps, { ...name, use: "get", sizeBytes, mimeType, expiresAt });
  return { uploadId, filename, mimeType, sizeBytes, sha256, url, expiresAt: toIso(expiresAt) };
}

/** Links to a submission's attachments, as far as the reader may see the values they belong to. */
export async function fileLinks(
  deps: Deps,
  { submission, intake, now }: Shown,
  sight: Sight,
): Promise<{ files?: FileLink[] }> {
  if (deps.uploads === undefined || sight === "state") return {};
  const files: FileLink[] = [];
  for (const upload of submission.uploads) {
    const { confirmed: file, field, uploadId } = upload;
    if (file === undefined || !isReferred(submission.fields, uploadId)) continue;
    if (sight === "masked" && isSensitiveUpload(upload, intake)) continue;
    files.push({ field, ...(await linkTo(deps, { submission, file, now })) });
  }
  return files.length === 0 ? {} : { files };
}
