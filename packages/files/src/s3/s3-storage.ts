import type { Readable } from "node:stream";
import type { DirectWay, FileName, UploadStorage } from "@formbridge/core";
import { type Connection, connect, isAbsent, isTaken, orDown, type S3Options } from "./client.ts";
import { type Keys, keysOf, nameOf } from "./keys.ts";
import { joinParts, signParts } from "./parts.ts";

export type { S3Options } from "./client.ts";

/** The largest object that one S3 request can upload or copy. */
const MAX_BYTES = 5 * 1024 ** 3;
/** S3 signatures are valid for at most seven days. */
const MAX_TTL_SECONDS = 604_800;
const PAGE = 500;

const seconds = (ms: number): number => Math.min(MAX_TTL_SECONDS, Math.max(1, Math.ceil(ms / 1000)));

/**
 * Files in a bucket. Clients upload to `incoming/` and download from `kept/`, with presigned URLs for one file each.
 */
export async function createS3Storage(options: S3Options): Promise<UploadStorage> {
  const at = await connect(options);
  const oneByOne = createLine();
  const keys = (name: FileName): Keys => keysOf(options.prefix, name);
  return {
    maxBytes: MAX_BYTES,
    way: directWay(at, keys),
    seal: (name) => orDown(oneByOne(keys(name).kept, () => seal(at, keys(name)))),
    read: async (name, range) => {
      const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end}`;
      const command = new at.sdk.GetObjectCommand({ Bucket: at.bucket, Key: keys(name).kept, Range });
      return (await orDown(at.client.send(command))).Body as Readable;
    },
    drop: (name) => orDown(drop(at, keys(name))),
    list: (page) => orDown(list(at, options.prefix, page)),
  };
}

function directWay(at: Connection, keys: (name: FileName) => Keys): DirectWay {
  const { client, bucket: Bucket, sdk, presigner } = at;
  return {
    kind: "direct",
    async signPut({ name, sizeBytes, mimeType }, ttlMs) {
      const Key = keys(name).incoming;
      const command = new sdk.PutObjectCommand({ Bucket, Key, ContentLength: sizeBytes, ContentType: mimeType });
      const signed = { expiresIn: seconds(ttlMs), signableHeaders: new Set(["content-length", "content-type"]) };
      const url = await presigner.getSignedUrl(client, command, signed);
      return { url, headers: { "Content-Type": mimeType, "Content-Length": String(sizeBytes) } };
    },
    async signGet(name, { disposition, mimeType, ttlMs }) {
      const command = new sdk.GetObjectCommand({
        Bucket,
        Key: keys(name).kept,
        ResponseContentDisposition: disposition,
        ResponseContentType: mimeType,
        ResponseCacheControl: "no-store",
      });
      return await presigner.getSignedUrl(client, command, { expiresIn: seconds(ttlMs) });
    },
    signParts: (file, { ttlMs, multipartId }) =>
      signParts(at, file, {
        key: keys(file.name).incoming,
        ttlSeconds: seconds(ttlMs),
        ...(multipartId !== undefined && { multipartId }),
      }),
    joinParts: (file, multipartId, etags) => joinParts(at, file, { key: keys(file.name).incoming, multipartId, etags }),
  };
}

/** Serializes work on the same key. */
function createLine(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}

async function headOf({ sdk, client, bucket }: Connection, Key: string) {
  try {
    return await client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key }));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Copies the file to where no client can write, unless that was done before. Everything else reads the copy. */
async function seal(at: Connection, { incoming, kept }: Keys): Promise<{ sizeBytes: number } | undefined> {
  const { sdk, client, bucket } = at;
  const before = await headOf(at, kept);
  if (before !== undefined) return { sizeBytes: before.ContentLength ?? 0 };
  const arrived = await headOf(at, incoming);
  if (arrived === undefined) return undefined;
  const CopySource = `${bucket}/${incoming.split("/").map(encodeURIComponent).join("/")}`;
  // The process that sealed it first has decided which file it is.
  const copy = new sdk.CopyObjectCommand({ Bucket: bucket, Key: kept, CopySource, IfNoneMatch: "*" });
  await client.send(copy).catch((error: unknown) => {
    if (!isTaken(error)) throw error;
  });
  await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: incoming }));
  const copied = await headOf(at, kept);
  return copied === undefined ? undefined : { sizeBytes: copied.ContentLength ?? 0 };
}

async function drop({ sdk, client, bucket }: Connection, { incoming, kept }: Keys): Promise<void> {
  for (const Key of [incoming, kept]) await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key }));
}

async function list(
  { sdk, client, bucket }: Connection,
  prefix: string,
  { after, idleMs }: { after?: string; idleMs: number },
): Promise<{ names: FileName[]; next?: string }> {
  const command = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: PAGE, StartAfter: after });
  // Remove the trailing slash of the bucket's path: some storages compute the signature without it.
  command.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as { path: string };
      if (request.path.length > 1) request.path = request.path.replace(/\/$/, "");
      return await next(args);
    },
    { step: "build", name: "bucketPath" },
  );
  const { Contents = [], IsTruncated } = await client.send(command);
  const names = new Map<string, FileName>();
  for (const { Key = "", LastModified } of Contents) {
    const name = nameOf(prefix, Key);
    const isIdle = LastModified !== undefined && Date.now() - LastModified.getTime() >= idleMs;
    if (name !== undefined && isIdle) names.set(name.uploadId, name);
  }
  const last = Contents.at(-1)?.Key;
  return { names: [...names.values()], ...(IsTruncated === true && last !== undefined && { next: last }) };
}
