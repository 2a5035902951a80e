import { decideCollect, reasonToCollect } from "../domain/files/fate.ts";
import type { Instant } from "../domain/instant.ts";
import type { Job } from "../ports/jobs.ts";
import { actOnLatest } from "./support/act-on-latest.ts";
import type { Context } from "./support/context.ts";
import { requireStorage } from "./support/files.ts";

const COLLECTOR = { kind: "system", id: "collector" } as const;

/** `free`: no row knows the file any more. `needed`: it stays. */
type Fate = "free" | "needed" | { retryAt: Instant };

/**
 * Takes a file away that nobody needs any more. First the row lets go of it, guarded by its revision: a confirm at the same moment
 * either has the file or is refused. A round that dies in between finds the file in no row the next time, and takes it away.
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
      const wantedUntil = upload.expiresAt + settings.policy.uploadGraceMs;
      if (reason === undefined) fate = "needed";
      else if (reason === "never_confirmed" && now < wantedUntil) fate = { retryAt: wantedUntil };
      else return { decision: decideCollect(upload, reason), ignoresDeadline: true };
      return undefined;
    },
  });
  if (released !== undefined) instrumentation.record({ name: "swept", what: "uploads", count: 1 });
  return fate;
}
