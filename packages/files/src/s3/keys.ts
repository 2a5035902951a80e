import type { FileName } from "@formbridge/core";

export interface Keys {
  /** Where clients may write. */
  incoming: string;
  /** Where only the server may write. */
  kept: string;
}

/** Names consist of ids only; the tenant's is encoded so that it can't contain path characters. */
export function keysOf(prefix: string, { tenant, submissionId, uploadId }: FileName): Keys {
  const stem = `${Buffer.from(tenant).toString("base64url")}/${submissionId}/${uploadId}`;
  return { incoming: `${prefix}incoming/${stem}`, kept: `${prefix}kept/${stem}` };
}

/** The file that a key belongs to; undefined if it isn't one of ours. */
export function nameOf(prefix: string, key: string): FileName | undefined {
  const [, tenant, submissionId, uploadId] =
    /^(?:incoming|kept)\/([\w-]+)\/(sub_[\w-]+)\/(upl_[\w-]+)$/.exec(key.slice(prefix.length)) ?? [];
  if (tenant === undefined || submissionId === undefined || uploadId === undefined) return undefined;
  return { tenant: Buffer.from(tenant, "base64url").toString("utf8"), submissionId, uploadId };
}
