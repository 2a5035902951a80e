import type { Actor } from "@formbridge/contract";
import { retentionMs } from "../domain/decide/erase.ts";
import { decideWarn } from "../domain/decide/expire.ts";
import type { Instant } from "../domain/instant.ts";
import { isEditable } from "../domain/transitions.ts";
import type { Due } from "../ports/deadlines.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { eraseSubmissionNow } from "./support/erase.ts";
import { expireIfDue, TTL_ENFORCER } from "./support/expire-due.ts";
import { createSteps } from "./support/in-steps.ts";
import { loadOpened } from "./support/load-opened.ts";

export interface Swept {
  expired: number;
  warned: number;
  erased: number;
  removed: number;
  tokens: number;
  records: number;
  handoffs: number;
  links: number;
}

const RETENTION: Actor = { kind: "system", id: "retention" };

/** Who called so recently may call again. */
const SHARED_FOR_MS = 1_000;

/**
 * One bounded round of what time asks for: expire, warn, erase, remove, forget. Answers what it did; a full batch means that more
 * may wait. Every step stands alone, so a round that dies half-way, or is called off, is finished by the next.
 */
export async function sweep(context: Context, signal?: AbortSignal): Promise<Swept> {
  const { backend, settings, instrumentation } = context.deps;
  const { sweepBatch, sweepAtOnce, policy } = settings;
  const now = await backend.deadlines.now();
  const failures: unknown[] = [];
  const isShared = (): boolean => performance.now() - context.traffic.lastCallAt < SHARED_FOR_MS;
  const steps = createSteps({ atOnce: sweepAtOnce, isShared, signal });
  const each: Each = async (due, work) => {
    const outcome = await steps.run(due, work);
    failures.push(...outcome.failures);
    return outcome.done;
  };
  const forget = (some: (limit: number) => Promise<number>): Promise<number> => steps.forget(sweepBatch, some);

  const overdue = await backend.deadlines.expired(now - policy.clockSkewMs, sweepBatch);
  const swept: Swept = {
    expired: await each(overdue, (due) => expireOne(context, due)),
    warned: await each(await backend.deadlines.warnable(now, sweepBatch), (due) => warnOne(context, due)),
    erased: await eraseDue(context, now, each),
    removed: await forget((limit) => backend.retention.removeErased(now - policy.eventRetentionMs, limit)),
    tokens: await forget((limit) => backend.tokens.forgetExpired(now - policy.tokenMemoryMs, limit)),
    records: await forget((limit) => backend.idempotency.forgetExpired(limit)),
    handoffs: await forget((limit) => backend.handoffs.forgetExpired(now - policy.tokenMemoryMs, limit)),
    links: await forget((limit) => backend.reviewLinks.forgetExpired(now - policy.tokenMemoryMs, limit)),
  };
  for (const what of ["warned", "erased", "removed", "tokens", "records", "handoffs", "links"] as const) {
    if (swept[what] > 0) instrumentation.record({ name: "swept", what, count: swept[what] });
  }
  // What can't be done now (a row that this server can't open) must not keep the rest from being done.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} submissions could not be swept`);
  return swept;
}

async function expireOne(context: Context, due: Due): Promise<boolean> {
  const found = await loadOpened(context, due);
  return found !== undefined && (await expireIfDue(context.deps, found));
}

async function warnOne(context: Context, due: Due): Promise<boolean> {
  const found = await loadOpened(context, due);
  if (found === undefined) return false;
  const { submission, now, intake } = found;
  if (!isEditable(submission.state) || submission.warnAt === undefined || now < submission.warnAt) return false;
  await commitDecision(context.deps, {
    operation: "warn",
    before: submission,
    decision: decideWarn(submission, now),
    actor: TTL_ENFORCER,
    now,
    intake,
  });
  return true;
}

type Each = (due: readonly Due[], work: (due: Due) => Promise<boolean>) => Promise<number>;

/** Definition by definition: each says how long what was created with it is kept. */
async function eraseDue(context: Context, now: Instant, each: Each): Promise<number> {
  const { backend, settings } = context.deps;
  const { sweepBatch: limit, policy } = settings;
  let erased = 0;
  for (const digest of await backend.retention.definitions()) {
    const definition = await backend.intakes.definition(digest);
    const keptMs = definition && retentionMs(definition, policy);
    if (keptMs === undefined) continue;
    const due = await backend.retention.endedBefore(now - keptMs, { definition: digest, limit });
    const archives = definition?.retention?.archive === true;
    erased += await each(
      due,
      async (one) => (await eraseSubmissionNow(context, { ...one, actor: RETENTION, archives })) !== undefined,
    );
    if (erased >= limit) return erased;
  }
  return erased;
}
