import type { S3Client } from "@aws-sdk/client-s3";
import { StorageDown } from "@formbridge/core";

export interface S3Options {
  bucket: string;
  region: string;
  prefix: string;
  forcePathStyle: boolean;
  /** Defaults to Amazon's. */
  endpoint?: string;
  /** Defaults to the SDK's own credential lookup. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
}

/** Loaded on first use because the SDK is large. */
export const loadSdk = async () => ({
  sdk: await import("@aws-sdk/client-s3"),
  presigner: await import("@aws-sdk/s3-request-presigner"),
});
type Loaded = Awaited<ReturnType<typeof loadSdk>>;

export interface Connection {
  client: S3Client;
  bucket: string;
  sdk: Loaded["sdk"];
  presigner: Loaded["presigner"];
}

export async function connect(options: S3Options): Promise<Connection> {
  const loaded = await loadSdk();
  const client = new loaded.sdk.S3Client({
    region: options.region,
    forcePathStyle: options.forcePathStyle,
    // A checksum in a presigned URL would be that of an empty body, and many S3-compatible storages don't support the
    // newer ones.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.credentials && { credentials: options.credentials }),
  });
  return { client, bucket: options.bucket, ...loaded };
}

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;

export const isAbsent = (error: unknown): boolean => statusOf(error) === 404;
/** An object exists there already, or is being written. */
export const isTaken = (error: unknown): boolean => [409, 412].includes(statusOf(error) ?? 0);
export const isRefusedInput = (error: unknown): boolean => statusOf(error) === 400;

/** Turns an unavailable storage into the port's error. */
export async function orDown<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const status = statusOf(error);
    if (status !== undefined && status < 500 && status !== 403 && status !== 429) throw error;
    throw new StorageDown(`the storage failed with ${status ?? (error as Error).name}`, { cause: error });
  }
}
