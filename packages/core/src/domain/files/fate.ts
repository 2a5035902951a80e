import type { Json } from "@formbridge/contract";
import type { NewJob } from "../../ports/store.ts";
import { collectJob, type Decision } from "../decide/decision.ts";
import type { Instant } from "../instant.ts";
import type { Policy } from "../policy.ts";
import type { Submission, Upload } from "../submission.ts";

export type CollectReason = "never_confirmed" | "replaced" | "submission_ended";

/** Why a file is needed no more; undefined while it is. A file that is being sent is needed until its time is over. */
export function reasonToCollect(submission: Submission, upload: Upload): CollectReason | undefined {
  if (submission.state === "cancelled" || submission.state === "expired") return "submission_ended";
  if (upload.confirmed === undefined) return "never_confirmed";
  return isReferred(submission.fields, upload.uploadId) ? undefined : "replaced";
}

function isReferred(value: Json, uploadId: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!Array.isArray(value) && value.uploadId === uploadId) return true;
  return Object.values(value).some((inner) => isReferred(inner as Json, uploadId));
}

/** When a file may go: some time after the last moment at which anybody could have wanted it. */
function collectAt(upload: Upload, reason: CollectReason, clock: { now: Instant; policy: Policy }): Instant {
  const { now, policy } = clock;
  return (reason === "never_confirmed" ? upload.expiresAt : now) + policy.uploadGraceMs;
}

/** The jobs by which a commit sees to it that no file stays for ever: one for each whose fate the commit changes. */
export function collecting(
  before: Submission,
  after: Submission,
  clock: { now: Instant; policy: Policy },
): { jobs: NewJob[]; dropJobs: string[] } {
  const jobs: NewJob[] = [];
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

const COLLECTOR = { kind: "system", id: "collector" } as const;

/** The row lets go of the file first: whoever confirms it meanwhile wins or loses as a whole. */
export const decideCollect = (upload: Upload, reason: CollectReason): Decision => ({
  events: [{ type: "upload.collected", by: COLLECTOR, uploadId: upload.uploadId, field: upload.field, reason }],
  token: "keep",
});
