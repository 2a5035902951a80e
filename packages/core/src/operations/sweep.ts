import { decideWarn } from "../domain/decide/expire.ts";
import { isEditable } from "../domain/transitions.ts";
import type { Due } from "../ports/deadlines.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { expireIfDue, TTL_ENFORCER } from "./support/expire-due.ts";
import { loadOpened } from "./support/load-opened.ts";

export interface Swept {
  expired: number;
  warned: number;
  tokens: number;
  records: number;
  handoffs: number;
  links: number;
}

/**
 * One bounded round of what time asks for: expire, warn, forget. Answers what it did; a full batch means that more may wait.
 * Every step stands alone, so a round that dies half-way is finished by the next.
 */
export async function sweep(context: Context): Promise<Swept> {
  const { deps } = context;
  const { backend, settings, instrumentation } = deps;
  const { sweepBatch, policy } = settings;
  const now = await backend.deadlines.now();
  const overdue = await backend.deadlines.expired(now - policy.clockSkewMs, sweepBatch);
  const failures = await settle(overdue.map((due) => expireOne(context, due)));
  const warnable = await backend.deadlines.warnable(now, sweepBatch);
  failures.push(...(await settle(warnable.map((due) => warnOne(context, due)))));
  const tokens = await backend.tokens.forgetExpired(now - policy.tokenMemoryMs, sweepBatch);
  const records = await backend.idempotency.forgetExpired(sweepBatch);
  const handoffs = await backend.handoffs.forgetExpired(now - policy.tokenMemoryMs, sweepBatch);
  const links = await backend.reviewLinks.forgetExpired(now - policy.tokenMemoryMs, sweepBatch);
  const swept = { expired: overdue.length, warned: warnable.length, tokens, records, handoffs, links };
  for (const what of ["warned", "tokens", "records", "handoffs", "links"] as const) {
    if (swept[what] > 0) instrumentation.record({ name: "swept", what, count: swept[what] });
  }
  // What can't be done now (a row that this server can't open) must not keep the rest from being done.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} submissions could not be swept`);
  return swept;
}

async function settle(work: Promise<void>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(work);
  return settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
}

async function expireOne(context: Context, due: Due): Promise<void> {
  const found = await loadOpened(context, due);
  if (found !== undefined) await expireIfDue(context.deps, found);
}

async function warnOne(context: Context, due: Due): Promise<void> {
  const found = await loadOpened(context, due);
  if (found === undefined) return;
  const { submission, now, intake } = found;
  if (!isEditable(submission.state) || submission.warnAt === undefined || now < submission.warnAt) return;
  await commitDecision(context.deps, {
    operation: "warn",
    before: submission,
    decision: decideWarn(submission, now),
    actor: TTL_ENFORCER,
    now,
    intake,
  });
}
