import type { Actor } from "@formbridge/contract";
import { retentionMs } from "../domain/decide/erase.ts";
import { decideWarn, TTL_ENFORCER } from "../domain/decide/expire.ts";
import type { Instant } from "../domain/instant.ts";
import { isPublished } from "../domain/publishing.ts";
import { isEditable } from "../domain/transitions.ts";
import type { Due } from "../ports/deadlines.ts";
import type { Context } from "./context.ts";
import { forgetRecords } from "./idempotency/forget-records.ts";
import { everyIntake } from "./read/every-intake.ts";
import { loadSubmission } from "./read/load-submission.ts";
import { commitDecision } from "./write/commit.ts";
import { eraseSubmissionNow } from "./write/erase.ts";
import { expireIfDue } from "./write/expire-due.ts";
import { createBatches } from "./write/in-batches.ts";

export interface Swept {
  expired: number;
  warned: number;
  erased: number;
  removed: number;
  tokens: number;
  records: number;
  handoffs: number;
  links: number;
  republished: number;
}

const RETENTION: Actor = { kind: "system", id: "retention" };

/** How long after a call the sweep still yields to callers. */
const SHARED_FOR_MS = 1_000;

/**
 * One bounded round of everything that is due: expire, warn, erase, remove, forget. Returns what it did; a full batch
 * means that there may be more. Each step is independent, so the next round completes one that died or was aborted.
 */
export async function sweep(context: Context, signal?: AbortSignal): Promise<Swept> {
  const { backend, settings, instrumentation } = context.deps;
  const { sweepBatch, sweepAtOnce, policy } = settings;
  const now = await backend.deadlines.now();
  const failures: unknown[] = [];
  const isShared = (): boolean => performance.now() - context.traffic.lastCallAt < SHARED_FOR_MS;
  const batches = createBatches({ atOnce: sweepAtOnce, isShared, signal });
  const each: Each = async (due, work) => {
    const outcome = await batches.run(due, work);
    failures.push(...outcome.failures);
    return outcome.done;
  };
  const forget = (some: (limit: number) => Promise<number>): Promise<number> => batches.forget(sweepBatch, some);

  const overdue = await backend.deadlines.expired(now - policy.clockSkewMs, sweepBatch);
  const swept: Swept = {
    expired: await each(overdue, (due) => expireOne(context, due)),
    warned: await each(await backend.deadlines.warnable(now, sweepBatch), (due) => warnOne(context, due)),
    erased: await eraseDue(context, now, each),
    removed: await forget((limit) => backend.retention.removeErased(now - policy.eventRetentionMs, limit)),
    tokens: await forget((limit) => backend.tokens.forgetExpired(now - policy.tokenMemoryMs, limit)),
    records: await forget((limit) => forgetRecords(context, limit)),
    handoffs: await forget((limit) => backend.handoffs.forgetExpired(now - policy.tokenMemoryMs, limit)),
    links: await forget((limit) => backend.reviewLinks.forgetExpired(now - policy.tokenMemoryMs, limit)),
    republished: await forget((limit) => republish(context, limit)),
  };
  for (const what of [
    "warned",
    "erased",
    "removed",
    "tokens",
    "records",
    "handoffs",
    "links",
    "republished",
  ] as const) {
    if (swept[what] > 0) instrumentation.record({ name: "swept", what, count: swept[what] });
  }
  await backend.incidents.forget(now - policy.eventRetentionMs, sweepBatch);
  await backend.blocks.forget(now, sweepBatch);
  // One submission that fails (such as a row that this server can't open) must not hold up the rest.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} submissions could not be swept`);
  return swept;
}

async function expireOne(context: Context, due: Due): Promise<boolean> {
  const found = await loadSubmission(context, due);
  return found !== undefined && (await expireIfDue(context.deps, found));
}

async function warnOne(context: Context, due: Due): Promise<boolean> {
  const found = await loadSubmission(context, due);
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

/** Stamps the records of intakes that are no longer published, or are published again. */
async function republish(context: Context, limit: number): Promise<number> {
  let done = 0;
  for await (const { definition } of everyIntake(context)) {
    const to = isPublished(definition) ? "live" : "withdrawn";
    done += await context.deps.backend.publications.restamp(definition.id, to, limit - done);
    if (done >= limit) break;
  }
  return done;
}

type Each = (due: readonly Due[], work: (due: Due) => Promise<boolean>) => Promise<number>;

/** By definition, because each sets its own retention. */
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
