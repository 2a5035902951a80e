import { decideEscalate, ESCALATION } from "../domain/decide/escalate.ts";
import type { Job } from "../ports/jobs.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { loadOpened } from "./support/load-opened.ts";

/** Who loses to another write looks again: the gate may have been passed by it. */
const MAX_TRIES = 64;

/** Tells that a gate has waited too long, once for each time that it was reached. */
export async function escalate(context: Context, job: Job): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadOpened(context, job);
    const decision = found && decideEscalate(found.submission, found);
    if (found === undefined || decision === undefined) {
      await context.deps.backend.jobs.settle(job, "done");
      return;
    }
    const { committed } = await commitDecision(context.deps, {
      operation: "escalate",
      before: found.submission,
      decision,
      actor: ESCALATION,
      now: found.now,
      intake: found.intake,
    });
    if (committed.kind === "committed") return;
  }
  throw new Error(`the escalation of ${job.submissionId} found no quiet moment`);
}
