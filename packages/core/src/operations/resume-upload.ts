import { inTime, openIncoming, refuseSealed, throughUs } from "./receive-upload.ts";
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
  const { file, grant, leftMs } = await openIncoming(context, call, "resume");
  const way = throughUs(context);
  await refuseSealed(way, file);
  return {
    uploadId: file.name.uploadId,
    url: await signedUrl(context.deps, grant),
    sizeBytes: file.sizeBytes,
    async received() {
      const { bytes } = await inContract(way.received(file.name));
      if (bytes < file.sizeBytes) return bytes;
      // Whoever sent the last byte may have died before the file was called whole; its client would send nothing more.
      return await inContract(way.receive(file, nothing(), { from: bytes, isWhole: false }));
    },
    append: async (bytes, from) => await inContract(way.receive(file, inTime(bytes, leftMs), { from, isWhole: false })),
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
