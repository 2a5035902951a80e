import type { UploadsChoice } from "./config/upload-settings.ts";

/** The origins of signed upload URLs: our own, or the bucket's. */
export function uploadOrigins({ storage }: UploadsChoice, publicUrl: string): string[] {
  if (storage.kind === "disk") return [new URL(publicUrl).origin];
  const { bucket, region, forcePathStyle, endpoint = `https://s3.${region}.amazonaws.com` } = storage;
  const { protocol, host, origin } = new URL(endpoint);
  return [forcePathStyle ? origin : `${protocol}//${bucket}.${host}`];
}
