import type { Decision } from "../domain/decide/decision.ts";
import {
  COURIER,
  type Deliverable,
  decideDeliveryAttempt,
  decideDeliveryFailure,
  decideDeliverySuccess,
  isDeliverable,
} from "../domain/decide/deliver.ts";
import { deliveryBody } from "../domain/delivery/delivery-body.ts";
import type { Submission } from "../domain/submission.ts";
import type { Parcel, Receipt } from "../ports/courier.ts";
import type { Job } from "../ports/jobs.ts";
import { actOnLatest } from "./support/act-on-latest.ts";
import { answerRewrite } from "./support/answer-rewrite.ts";
import type { Context } from "./support/context.ts";
import type { Opened } from "./support/load-opened.ts";

type Due = Opened & { submission: Deliverable };

/**
 * One attempt to deliver, in three steps: write down that it starts, send, write down what came of it. Any number of workers may
 * come this far with the same job, after a pause or a crash; an outcome counts only as long as no later attempt was started.
 */
export async function deliver(context: Context, job: Job, signal: AbortSignal): Promise<void> {
  const started = await takeStep(
    context,
    job,
    () => true,
    ({ submission }) => decideDeliveryAttempt(submission),
  );
  if (started === undefined) {
    // Finalized, cancelled or gone since: whoever did that has dropped the job, or it was never to be.
    await context.deps.backend.jobs.settle(job, "done");
    return;
  }
  const { deliveryId, attemptCount } = started.submission.delivery;
  const began = performance.now();
  const { receipt, bug } = await send(context, started, signal);
  context.deps.instrumentation.record({ name: "delivery", outcome: receipt.kind, ms: performance.now() - began });
  const isOurs = ({ delivery }: Submission) =>
    delivery?.deliveryId === deliveryId && delivery.attemptCount === attemptCount && delivery.inFlight === true;
  await takeStep(context, job, isOurs, ({ submission, intake, now }) =>
    receipt.kind === "taken"
      ? decideDeliverySuccess(submission)
      : decideDeliveryFailure(submission, { ...receipt, chance: context.deps.random.chance() }, { intake, now }),
  );
  if (bug !== undefined) throw bug;
}

/** Couriers tell of failures; one that throws instead has a bug, which is told once the failure is written down. */
async function send(context: Context, due: Due, signal: AbortSignal): Promise<{ receipt: Receipt; bug?: unknown }> {
  try {
    return { receipt: await context.deps.courier.send(await parcelOf(context, due), signal) };
  } catch (bug) {
    return { receipt: { kind: "failed", error: "The delivery failed inside the server; its log says why." }, bug };
  }
}

async function parcelOf({ deps }: Context, { submission, intake }: Due): Promise<Parcel> {
  const { tenant, intakeId, submissionId, submittedAt, delivery } = submission;
  const { destination } = intake.definition;
  const now = (await deps.backend.intakes.get(intakeId))?.definition.destination;
  // A secret that was replaced since the submission began signs too: a receiver may know either of the two.
  const renewed = now?.kind === destination.kind && now.url === destination.url ? now.secret : undefined;
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

/** A step of an attempt; undefined when there is nothing to deliver (any more), or another attempt has begun. */
async function takeStep(
  context: Context,
  job: Job,
  isOurs: (submission: Submission) => boolean,
  decide: (due: Due) => Decision,
): Promise<Due | undefined> {
  const step = await actOnLatest(context, job, {
    operation: "deliver",
    actor: COURIER,
    async decide(found) {
      const { submission } = found;
      if (!isDeliverable(submission) || !isOurs(submission)) return undefined;
      const decision = decide({ ...found, submission });
      return { decision, ...(await answerRewrite(context, found, decision)) };
    },
  });
  return step && { ...step.found, submission: step.after as Deliverable };
}
