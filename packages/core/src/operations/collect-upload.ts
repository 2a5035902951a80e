import { decideCollect, reasonToCollect } from "../domain/files/fate.ts";
import type { Job } from "../ports/jobs.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { requireStorage } from "./support/files.ts";
import { loadOpened } from "./support/load-opened.ts";

const COLLECTOR = { kind: "system", id: "collector" } as const;
const MAX_TRIES = 8;

/**
 * Takes a file away that nobody needs any more. First the row lets go of it, guarded by its revision: a confirm at the same moment
 * either has the file or is refused. A round that dies in between finds the file in no row the next time, and takes it away.
 */
export async function collectUpload(context: Context, job: Job): Promise<void> {
  const { deps } = context;
  const { tenant, submissionId, key } = job;
  const uploadId = key.slice(key.indexOf(":") + 1);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const fate = await letGo(context, job, uploadId);
    if (fate === "moved") continue;
    if (fate === "free") await requireStorage(deps.uploads).drop({ tenant, submissionId, uploadId });
    await deps.backend.jobs.settle(job, typeof fate === "object" ? fate : "done");
    return;
  }
  throw new Error(`the submission of ${uploadId} changes too fast for its file to be collected`);
}

/** `free`: no row knows the file any more. `needed`: it stays. `moved`: look again. */
async function letGo(
  context: Context,
  job: Job,
  uploadId: string,
): Promise<"free" | "needed" | "moved" | { retryAt: number }> {
  const { deps } = context;
  const found = await loadOpened(context, job);
  if (found === undefined) return "free";
  const { submission, now, intake } = found;
  const upload = submission.uploads.find((known) => known.uploadId === uploadId);
  if (upload === undefined) return "free";
  const reason = reasonToCollect(submission, upload);
  if (reason === undefined) return "needed";
  const wantedUntil = upload.expiresAt + deps.settings.policy.uploadGraceMs;
  if (reason === "never_confirmed" && now < wantedUntil) return { retryAt: wantedUntil };
  const { committed } = await commitDecision(deps, {
    operation: "collectUpload",
    before: submission,
    decision: decideCollect(upload, reason),
    actor: COLLECTOR,
    now,
    intake,
    ignoresDeadline: true,
  });
  if (committed.kind !== "committed") return "moved";
  deps.instrumentation.record({ name: "swept", what: "uploads", count: 1 });
  return "free";
}
