import { join } from "node:path";
import type { FileName } from "@formbridge/core";

/**
 * The stages of one file in its folder:
 *
 *   .part ◀──▶ .busy ──▶ .whole ──▶ .kept
 *   (paused)  (being   (complete) (sealed)
 *             written)
 */
export const STAGES = ["part", "busy", "whole", "kept"] as const;

export interface Places {
  folder: string;
  part: string;
  busy: string;
  whole: string;
  kept: string;
}

/** The end of an id is random, so files spread evenly over 256 folders. */
const shardOf = (uploadId: string): string => /[0-9a-f]{2}$/.exec(uploadId)?.[0] ?? "00";

/** Names consist of ids only; the tenant's is encoded so that it can't contain path characters. */
export function placesOf(root: string, { tenant, submissionId, uploadId }: FileName): Places {
  if (![submissionId, uploadId].every((id) => /^[a-z]{3}_[\w-]{1,64}$/.test(id)))
    throw new Error("not an id that this server generated");
  const folder = join(root, shardOf(uploadId));
  const stem = join(folder, `${Buffer.from(tenant).toString("base64url")}.${submissionId}.${uploadId}`);
  return { folder, part: `${stem}.part`, busy: `${stem}.busy`, whole: `${stem}.whole`, kept: `${stem}.kept` };
}

const ENTRY = /^([\w-]+)\.(sub_[\w-]+)\.(upl_[\w-]+)\.(?:part|busy|whole|kept)$/;

/** The file that a folder entry belongs to; undefined if it isn't one of ours. */
export function nameOf(entry: string): FileName | undefined {
  const [, tenant, submissionId, uploadId] = ENTRY.exec(entry) ?? [];
  if (tenant === undefined || submissionId === undefined || uploadId === undefined) return undefined;
  return { tenant: Buffer.from(tenant, "base64url").toString("utf8"), submissionId, uploadId };
}
