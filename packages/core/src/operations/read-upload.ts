import type { Readable } from "node:stream";
import { servedType } from "../domain/files/content-type.ts";
import { attachment } from "../domain/files/display-name.ts";
import { notConfirmed } from "../domain/files/refusals.ts";
import type { Context } from "./context.ts";
import { fileOf, type GrantCall, type Granted, inContract, openGrant, requireStorage } from "./files/files.ts";

/** A confirmed file, ready to be served. */
export interface UploadContent {
  sizeBytes: number;
  sha256: string;
  /** The served type: never one that a browser would run. */
  mimeType: string;
  /** The value of Content-Disposition. */
  disposition: string;
  /** `end` is inclusive. Destroy the stream if you don't read it to the end. */
  read(range?: { start: number; end: number }): Promise<Readable>;
  explain: Granted["explain"];
}

export async function readUpload(context: Context, call: GrantCall): Promise<UploadContent> {
  const { submission, upload, intake, explain } = await openGrant(context, call, "get");
  const { confirmed } = upload;
  if (confirmed === undefined) throw notConfirmed(submission, upload, intake);
  return {
    sizeBytes: confirmed.sizeBytes,
    sha256: confirmed.sha256,
    mimeType: servedType(confirmed.mimeType),
    disposition: attachment(confirmed.filename),
    explain,
    read: async (range) =>
      await inContract(requireStorage(context.deps.uploads).read(fileOf(submission, upload.uploadId), range)),
  };
}
