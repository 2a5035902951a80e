import { decideEscalate, ESCALATION } from "../domain/decide/escalate.ts";
import type { Job } from "../ports/jobs.ts";
import type { Context } from "./context.ts";
import { actOnLatest } from "./write/act-on-latest.ts";

/** Escalates a gate that has waited too long, once per time that it was reached. */
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
