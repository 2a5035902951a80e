import type { Destination } from "@formbridge/contract";
import type { Decision } from "../domain/decide/decision.ts";
import {
  COURIER,
  type Deliverable,
  decideDeliveryAttempt,
  decideDeliveryFailure,
  decideDeliverySuccess,
  heldUntil,
  isDeliverable,
} from "../domain/decide/deliver.ts";
import { answerExcerpt } from "../domain/delivery/answer-excerpt.ts";
import { deliveryBody } from "../domain/delivery/delivery-body.ts";
import type { AttemptResult } from "../domain/events.ts";
import type { Instant } from "../domain/instant.ts";
import type { Submission } from "../domain/submission.ts";
import type { OutgoingDelivery, Receipt } from "../ports/courier.ts";
import type { Job } from "../ports/jobs.ts";
import type { Context } from "./context.ts";
import { destinationOf } from "./delivery/destination.ts";
import { answerRewrite } from "./idempotency/answer-rewrite.ts";
import type { LoadedSubmission } from "./read/load-submission.ts";
import { boundToExcerpt } from "./read/open-snapshot.ts";
import { actOnLatest } from "./write/act-on-latest.ts";

type Due = LoadedSubmission & { submission: Deliverable };

/**
 * One delivery attempt in three steps: record that it starts, send, record the outcome. Several workers may run this
 * for one submission, because a retry replaces the job or a lease ran out. Only one of them may start while an attempt
 * is in flight, and an outcome counts only if no later attempt has started.
 */
export async function deliver(context: Context, job: Job, signal: AbortSignal): Promise<void> {
  const start = await startAttempt(context, job);
  if (start === "over") {
    // It was finalized, cancelled or removed meanwhile, so the job is done.
    await context.deps.backend.jobs.settle(job, "done");
    return;
  }
  if ("heldUntil" in start) {
    // Keep the job until then, in case the process with the current attempt dies.
    await context.deps.backend.jobs.settle(job, { retryAt: start.heldUntil });
    return;
  }
  const { deliveryId, attemptCount } = start.submission.delivery;
  const began = performance.now();
  const { receipt, bug } = await send(context, start, signal);
  const ms = performance.now() - began;
  const { retryPolicy, kind: destination } = destinationOf(context.deps.sealer, start.submission, start.intake);
  context.deps.instrumentation.record({ name: "delivery", destination, outcome: receipt.kind, ms });
  const isOurs = ({ delivery }: Submission) =>
    delivery?.deliveryId === deliveryId && delivery.attemptCount === attemptCount && delivery.inFlight === true;
  const result = resultOf(context, start, { receipt, ms });
  await takeStep(context, job, ({ submission, now }) => {
    if (!isOurs(submission)) return undefined;
    return receipt.kind === "accepted"
      ? decideDeliverySuccess(submission, result)
      : decideDeliveryFailure(
          submission,
          { ...receipt, result, chance: context.deps.random.chance() },
          { now, retryPolicy },
        );
  });
  if (bug !== undefined) throw bug;
}

/** Records the start of an attempt, unless there is nothing left to deliver or another attempt is in flight. */
async function startAttempt(context: Context, job: Job): Promise<Due | "over" | { heldUntil: Instant }> {
  const { backend, random } = context.deps;
  const isAlone = backend.releaseLeases !== undefined;
  const lease = { by: random.process, until: job.leasedUntil };
  let held: Instant | undefined;
  const started = await takeStep(context, job, ({ submission, now }) => {
    held = heldUntil(submission, { ...lease, now, isAlone });
    return held === undefined ? decideDeliveryAttempt(submission, lease) : undefined;
  });
  return started ?? (held === undefined ? "over" : { heldUntil: held });
}

function resultOf(
  { deps }: Context,
  due: Due,
  { receipt: { status, answer }, ms }: { receipt: Receipt; ms: number },
): AttemptResult {
  const excerpt =
    answer === undefined
      ? ""
      : answerExcerpt(answer, { ...due, destination: destinationOf(deps.sealer, due.submission, due.intake) });
  return {
    latencyMs: Math.round(ms),
    ...(status !== undefined && { status }),
    ...(excerpt !== "" && { answer: deps.sealer.seal(excerpt, boundToExcerpt(due.submission)) }),
  };
}

/** Couriers report failures as receipts; one that throws has a bug, which is rethrown once the failure is recorded. */
async function send(context: Context, due: Due, signal: AbortSignal): Promise<{ receipt: Receipt; bug?: unknown }> {
  try {
    return { receipt: await context.deps.courier.send(await outgoingDelivery(context, due), signal) };
  } catch (bug) {
    return { receipt: { kind: "failed", error: "The delivery failed inside the server; its log says why." }, bug };
  }
}

const urlOf = (destination: Destination): string | undefined => ("url" in destination ? destination.url : undefined);

const isSamePlace = (one: Destination, other: Destination): boolean =>
  one.kind === other.kind && urlOf(one) === urlOf(other);

async function outgoingDelivery({ deps }: Context, { submission, intake }: Due): Promise<OutgoingDelivery> {
  const { tenant, intakeId, submissionId, submittedAt, delivery } = submission;
  const destination = destinationOf(deps.sealer, submission, intake);
  const now = (await deps.backend.intakes.get(intakeId))?.definition.destination;
  // Also sign with a secret that has changed since the submission was created: the receiver may know either.
  const renewed = now !== undefined && isSamePlace(now, destination) ? now.secret : undefined;
  const named = [renewed, destination.secret].filter((secret) => secret !== undefined);
  return {
    deliveryId: delivery.deliveryId,
    tenant,
    intakeId,
    submissionId,
    destination,
    body: deliveryBody(submission),
    submittedAt,
    attempt: delivery.attemptCount,
    secrets: named.length > 0 ? [...new Set(named)] : deps.webhookSecrets({ tenant, intakeId }),
  };
}

/** One step of an attempt; undefined if there is nothing left to deliver, or the step doesn't apply. */
async function takeStep(
  context: Context,
  job: Job,
  decide: (due: Due) => Decision | undefined,
): Promise<Due | undefined> {
  const step = await actOnLatest(context, job, {
    operation: "deliver",
    actor: COURIER,
    async decide(found) {
      const { submission } = found;
      const decision = isDeliverable(submission) ? decide({ ...found, submission }) : undefined;
      return decision && { decision, ...(await answerRewrite(context, found, decision)) };
    },
  });
  return step && { ...step.found, submission: step.after as Deliverable };
}
