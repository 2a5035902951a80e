import type { AnnouncedFile, ReceivingWay } from "../ports/uploads.ts";
import type { Context } from "./context.ts";
import { type GrantCall, type Granted, inContract, signedUrl } from "./files/files.ts";
import { inTime, openIncoming, refuseSealed, stillWanted, throughUs } from "./receive-upload.ts";

/** A resumable upload: how far it is, and how to continue. */
export interface ResumableUpload {
  uploadId: string;
  /** The signed URL. */
  url: string;
  sizeBytes: number;
  /** How many bytes have been received. */
  received(): Promise<number>;
  /** Appends bytes after those received, and returns the new total. What arrived before a connection broke is kept. */
  append(bytes: AsyncIterable<Uint8Array>, from: number): Promise<number>;
  explain: Granted["explain"];
}

export async function resumeUpload(context: Context, call: GrantCall): Promise<ResumableUpload> {
  const { file, grant, leftMs, explain } = await openIncoming(context, call, "resume");
  const way = await openWay(context, file).catch((error: unknown) => {
    throw explain(error);
  });
  return {
    uploadId: file.name.uploadId,
    url: await signedUrl(context.deps, grant),
    sizeBytes: file.sizeBytes,
    explain,
    async received() {
      const { bytes } = await inContract(way.received(file.name));
      if (bytes < file.sizeBytes) return bytes;
      // The process may have died after the last byte but before marking the file as complete; the client would send
      // nothing more.
      return await inContract(way.receive(file, nothing(), { from: bytes, isWhole: false }));
    },
    append: async (bytes, from) =>
      await stillWanted(context, file.name, () =>
        inContract(way.receive(file, inTime(bytes, leftMs), { from, isWhole: false })),
      ),
  };
}

async function openWay(context: Context, file: AnnouncedFile): Promise<ReceivingWay> {
  const way = throughUs(context);
  await refuseSealed(way, file);
  return way;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
