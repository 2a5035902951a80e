import { decideEscalate, ESCALATION } from "../domain/decide/escalate.ts";
import type { Job } from "../ports/jobs.ts";
import { actOnLatest } from "./support/act-on-latest.ts";
import type { Context } from "./support/context.ts";

/** Tells that a gate has waited too long, once for each time that it was reached. */
export async function escalate(context: Context, job: Job): Promise<void> {
  const done = await actOnLatest(context, job, {
    operation: "escalate",
    actor: ESCALATION,
    decide(found) {
      const decision = decideEscalate(found.submission, found);
      return decision && { decision };
    },
  });
  if (done === undefined) await context.deps.backend.jobs.settle(job, "done");
}
