import { type AnnouncedFile, type SignedParts, UploadMisfit } from "@formbridge/core";
import { type Connection, isAbsent, isRefusedInput, orDown } from "./client.ts";

const MIB = 1024 * 1024;
/** S3 takes at most 10,000 parts, of which only the last may be smaller than 5 MiB. */
const PART_BYTES = 16 * MIB;

interface PartsOptions {
  key: string;
  ttlSeconds: number;
  multipartId?: string;
}

export async function signParts(at: Connection, file: AnnouncedFile, options: PartsOptions): Promise<SignedParts> {
  const { key, ttlSeconds: expiresIn } = options;
  const UploadId = options.multipartId ?? (await begin(at, file, key));
  const count = Math.ceil(file.sizeBytes / PART_BYTES);
  const parts = Array.from({ length: count }, async (_, index) => {
    const sizeBytes = Math.min(PART_BYTES, file.sizeBytes - index * PART_BYTES);
    const command = new at.sdk.UploadPartCommand({
      Bucket: at.bucket,
      Key: key,
      UploadId,
      PartNumber: index + 1,
      ContentLength: sizeBytes,
    });
    const signableHeaders = new Set(["content-length"]);
    const url = await at.presigner.getSignedUrl(at.client, command, { expiresIn, signableHeaders });
    return { partNumber: index + 1, sizeBytes, url };
  });
  return { multipartId: UploadId, partBytes: PART_BYTES, parts: await Promise.all(parts) };
}

async function begin({ sdk, client, bucket }: Connection, file: AnnouncedFile, key: string): Promise<string> {
  const { CreateMultipartUploadCommand } = sdk;
  const command = new CreateMultipartUploadCommand({ Bucket: bucket, Key: key, ContentType: file.mimeType });
  const { UploadId } = await orDown(client.send(command));
  if (UploadId === undefined) throw new Error("the storage started a multipart upload without an id");
  return UploadId;
}

/** Parts can be of any size, so the announced size is checked again on confirm. */
export async function joinParts(
  { sdk, client, bucket }: Connection,
  file: AnnouncedFile,
  joined: { key: string; multipartId: string; etags: readonly string[] },
): Promise<void> {
  const expected = Math.ceil(file.sizeBytes / PART_BYTES);
  if (joined.etags.length !== expected) throw new UploadMisfit(`the file has ${expected} parts.`);
  const command = new sdk.CompleteMultipartUploadCommand({
    Bucket: bucket,
    Key: joined.key,
    UploadId: joined.multipartId,
    MultipartUpload: { Parts: joined.etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 })) },
  });
  try {
    await orDown(client.send(command));
  } catch (error) {
    if (isAbsent(error) || isRefusedInput(error))
      throw new UploadMisfit("the parts don't add up to the announced file.", { cause: error });
    throw error;
  }
}
