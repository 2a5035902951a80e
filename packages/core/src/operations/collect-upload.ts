import { COLLECTOR, decideCollect, reasonToCollect, wantedUntil } from "../domain/files/fate.ts";
import type { Instant } from "../domain/instant.ts";
import type { Job } from "../ports/jobs.ts";
import type { Context } from "./context.ts";
import { requireStorage } from "./files/files.ts";
import { actOnLatest } from "./write/act-on-latest.ts";

/** `free`: no row refers to the file. `needed`: it stays. */
type Fate = "free" | "needed" | { retryAt: Instant };

/**
 * Removes a file that is no longer needed. First the row drops it, guarded by its revision, so that a concurrent
 * confirm either gets the file or is refused. If the job dies in between, its next run finds the file in no row and
 * removes it.
 */
export async function collectUpload(context: Context, job: Job): Promise<void> {
  const { deps } = context;
  const { tenant, submissionId, key } = job;
  const uploadId = key.slice(key.indexOf(":") + 1);
  const fate = await letGo(context, job, uploadId);
  if (fate === "free") await requireStorage(deps.uploads).drop({ tenant, submissionId, uploadId });
  await deps.backend.jobs.settle(job, typeof fate === "object" ? fate : "done");
}

async function letGo(context: Context, job: Job, uploadId: string): Promise<Fate> {
  const { instrumentation, settings } = context.deps;
  let fate: Fate = "free";
  const released = await actOnLatest(context, job, {
    operation: "collectUpload",
    actor: COLLECTOR,
    decide({ submission, now }) {
      fate = "free";
      const upload = submission.uploads.find((known) => known.uploadId === uploadId);
      if (upload === undefined) return undefined;
      const reason = reasonToCollect(submission, upload);
      const until = wantedUntil(upload, settings.policy);
      if (reason === undefined) fate = "needed";
      else if (reason === "never_confirmed" && now < until) fate = { retryAt: until };
      else return { decision: decideCollect(submission, { upload, reason, now }), ignoresDeadline: true };
      return undefined;
    },
  });
  if (released !== undefined) instrumentation.record({ name: "swept", what: "uploads", count: 1 });
  return fate;
}
