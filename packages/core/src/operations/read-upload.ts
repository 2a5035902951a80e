import type { Readable } from "node:stream";
import { servedType } from "../domain/files/content-type.ts";
import { attachment } from "../domain/files/display-name.ts";
import type { Context } from "./support/context.ts";
import { fileOf, type GrantCall, inContract, noUpload, openGrant, requireStorage } from "./support/files.ts";

/** A confirmed file, ready to be given. */
export interface UploadContent {
  sizeBytes: number;
  sha256: string;
  /** What it is served as: never a type that a browser would run. */
  mimeType: string;
  /** The value of Content-Disposition. */
  disposition: string;
  /** `end` is inclusive. Whoever does not read it to the end destroys it. */
  read(range?: { start: number; end: number }): Promise<Readable>;
}

export async function readUpload(context: Context, call: GrantCall): Promise<UploadContent> {
  const { submission, upload } = await openGrant(context, call, "get");
  const { confirmed } = upload;
  if (confirmed === undefined) throw noUpload();
  const storage = requireStorage(context.deps.uploads);
  return {
    sizeBytes: confirmed.sizeBytes,
    sha256: confirmed.sha256,
    mimeType: servedType(confirmed.mimeType),
    disposition: attachment(confirmed.filename),
    read: async (range) => await inContract(storage.read(fileOf(submission, upload.uploadId), range)),
  };
}
