import type { Json } from "@formbridge/contract";
import { collectJob, type Decision } from "../decide/decision.ts";
import type { DomainEvent } from "../events.ts";
import type { Instant } from "../instant.ts";
import type { NewJob } from "../job.ts";
import type { Policy } from "../policy.ts";
import type { Submission, Upload } from "../submission.ts";
import { stateWithout } from "./pending.ts";

export type CollectReason = "never_confirmed" | "replaced" | "submission_ended";

/** Why a file is no longer needed; undefined while it is. A file being uploaded is needed until its deadline. */
export function reasonToCollect(submission: Submission, upload: Upload): CollectReason | undefined {
  if (submission.state === "cancelled" || submission.state === "expired") return "submission_ended";
  if (upload.confirmed === undefined) return "never_confirmed";
  return isReferred(submission.fields, upload.uploadId) ? undefined : "replaced";
}

/** Whether the values refer to the upload. */
export function isReferred(value: Json, uploadId: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!Array.isArray(value) && value.uploadId === uploadId) return true;
  return Object.values(value).some((inner) => isReferred(inner as Json, uploadId));
}

/** When a file may be removed: some time after anyone could last have needed it. */
function collectAt(upload: Upload, reason: CollectReason, clock: { now: Instant; policy: Policy }): Instant {
  const { now, policy } = clock;
  return reason === "never_confirmed" ? wantedUntil(upload, policy) : now + policy.uploadGraceMs;
}

/**
 * How long a file may take to be uploaded and confirmed. Anonymous callers get no grace, because they could fill the
 * disk with partial files.
 */
export const wantedUntil = ({ expiresAt, anonymous }: Upload, { uploadGraceMs, clockSkewMs }: Policy): Instant =>
  expiresAt + (anonymous === true ? Math.min(clockSkewMs, uploadGraceMs) : uploadGraceMs);

/** The jobs that remove files in the end: one for each file affected by the commit. */
export function collecting(
  before: Submission,
  after: Submission,
  clock: { now: Instant; policy: Policy; events: readonly DomainEvent[] },
): { jobs: NewJob[]; dropJobs: string[] } {
  const jobs: NewJob[] = clock.events.flatMap((event) =>
    event.type === "upload.failed" || event.type === "upload.abandoned"
      ? [{ key: collectJob(event.uploadId), kind: "collect" as const, runAt: clock.now }]
      : [],
  );
  const dropJobs: string[] = [];
  if (after.uploads.length === 0 || isUntouched(before, after)) return { jobs, dropJobs };
  const known = new Map(before.uploads.map((upload) => [upload.uploadId, upload]));
  for (const upload of after.uploads) {
    const earlier = known.get(upload.uploadId);
    const was = earlier === undefined ? "new" : reasonToCollect(before, earlier);
    const is = reasonToCollect(after, upload);
    if (was === is) continue;
    const key = collectJob(upload.uploadId);
    if (is === undefined) dropJobs.push(key);
    else jobs.push({ key, kind: "collect", runAt: collectAt(upload, is, clock) });
  }
  return { jobs, dropJobs };
}

const isUntouched = (before: Submission, after: Submission): boolean =>
  before.uploads === after.uploads && before.fields === after.fields && before.state === after.state;

export const COLLECTOR = { kind: "system", id: "collector" } as const;

/** The row drops the upload first, so that a concurrent confirm either gets the file or is refused. */
export function decideCollect(
  submission: Submission,
  { upload, reason, now }: { upload: Upload; reason: CollectReason; now: Instant },
): Decision {
  const { uploadId, field } = upload;
  const to = submission.state === "awaiting_upload" ? { to: stateWithout(submission, upload, now) } : {};
  return {
    events: [{ type: "upload.collected", by: COLLECTOR, ...to, uploadId, field, reason }],
    token: "keep",
  };
}
