import { ContractError } from "../../domain/error.ts";
import { announceAction } from "../../domain/files/refusals.ts";
import { DAY, type Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Submission, Upload } from "../../domain/submission.ts";
import type { Caller } from "../caller.ts";
import type { Context } from "../context.ts";
import { networkOf } from "../identity/network-of.ts";
import { storageFull } from "./files.ts";

const FULL_RETRY_MS = 10 * 60_000;

interface Announcement {
  submission: Submission;
  intake: CompiledIntake;
  upload: Upload;
  /** The size of the uploads it supersedes. */
  releasedBytes: number;
  caller: Caller;
  now: Instant;
}

/** Refuses a file that exceeds a quota before any of it is sent; otherwise counts it. Called once per announcement. */
export async function takeQuota(context: Context, announcement: Announcement): Promise<void> {
  await refuseWithoutRoom(context, announcement);
  await takeOfAddress(context, announcement);
  await takeOfIntake(context, announcement);
}

async function refuseWithoutRoom({ deps }: Context, { upload, intake }: Announcement): Promise<void> {
  const room = await deps.uploads?.room?.();
  if (room === undefined || upload.sizeBytes <= room) return;
  throw storageFull([announceAction(upload.field, "Try again later, or send a smaller file.", intake)]);
}

async function takeOfIntake({ deps, uploadUsage }: Context, announcement: Announcement): Promise<void> {
  const { intakeBytes: limit } = deps.settings.uploadQuotas;
  if (limit === 0) return;
  const { submission, intake, upload, releasedBytes, now } = announcement;
  if (await uploadUsage.take(submission, { bytes: upload.sizeBytes - releasedBytes, limit, now })) return;
  const words = `The files of this intake may add up to ${limit} bytes, and there is no room for this one. Ask the operator for more.`;
  throw new ContractError("service_unavailable", words, {
    retryAfterMs: FULL_RETRY_MS,
    nextActions: [announceAction(upload.field, words, intake)],
  });
}

/** Only callers without an API key are counted by address. */
async function takeOfAddress({ deps }: Context, { upload, caller, intake }: Announcement): Promise<void> {
  const { addressBytes: limit } = deps.settings.uploadQuotas;
  if (limit === 0 || upload.anonymous !== true) return;
  const rule = { name: "upload-bytes-address", limit, windowMs: DAY };
  const subject = networkOf(caller.address);
  const { remaining, resetMs } = await deps.rateLimiter.peek(rule, subject);
  const isLeft = upload.sizeBytes <= remaining;
  if (isLeft && (await deps.rateLimiter.hit(rule, subject, upload.sizeBytes)).allowed) return;
  const words = `Without a key, one address may announce ${limit} bytes of files a day; ${remaining} are left. Wait, or use a key.`;
  throw new ContractError("rate_limited", words, {
    retryAfterMs: Math.max(1, resetMs),
    nextActions: [announceAction(upload.field, words, intake)],
  });
}
