import type { Job } from "../ports/jobs.ts";
import type { Context } from "./context.ts";
import { loadSubmission } from "./read/load-submission.ts";
import { lapseIfDue } from "./write/expire-due.ts";

const MAX_TRIES = 16;

/** Writes `token.expired` for a token that lapsed unused. */
export async function lapseToken(context: Context, job: Job): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadSubmission(context, job);
    if (found === undefined || !(await lapseIfDue(context.deps, found))) {
      await context.deps.backend.jobs.settle(job, "done");
      return;
    }
  }
  throw new Error(`lapse: ${job.submissionId} changes too fast`);
}
