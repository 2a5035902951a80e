import { openIncoming, refuseSealed, throughUs } from "./receive-upload.ts";
import type { Context } from "./support/context.ts";
import { type GrantCall, inContract, signedUrl } from "./support/files.ts";

/** A file that comes in pieces: how far it is, and the way to go on. */
export interface ResumableUpload {
  uploadId: string;
  /** Where it is reached: the signed URL itself. */
  url: string;
  sizeBytes: number;
  /** How many bytes there are. */
  received(): Promise<number>;
  /** Takes bytes that follow the ones that are there, and answers how many there are then. What came before a break is kept. */
  append(bytes: AsyncIterable<Uint8Array>, from: number): Promise<number>;
}

export async function resumeUpload(context: Context, call: GrantCall): Promise<ResumableUpload> {
  const { file, grant } = await openIncoming(context, call, "resume");
  const way = throughUs(context);
  await refuseSealed(way, file);
  return {
    uploadId: file.name.uploadId,
    url: await signedUrl(context.deps, grant),
    sizeBytes: file.sizeBytes,
    received: async () => (await inContract(way.received(file.name))).bytes,
    append: async (bytes, from) => await inContract(way.receive(file, bytes, { from, isWhole: false })),
  };
}
