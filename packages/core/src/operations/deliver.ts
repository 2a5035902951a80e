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
import { answerRewrite } from "./support/answer-rewrite.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { loadOpened, type Opened } from "./support/load-opened.ts";

/** Reads and replays move the revision too: a step that loses to them is taken again. */
const MAX_TRIES = 64;

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
    async ({ submission }) => decideDeliveryAttempt(submission),
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
  await takeStep(context, job, isOurs, async ({ submission, intake, now }) =>
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

/** Decides and commits on what is there, again when somebody was faster; undefined when there is nothing to do (any more). */
async function takeStep(
  context: Context,
  job: Job,
  isOurs: (submission: Submission) => boolean,
  decide: (due: Due) => Promise<Decision>,
): Promise<Due | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await loadOpened(context, job);
    if (found === undefined || !isDeliverable(found.submission) || !isOurs(found.submission)) return undefined;
    const due: Due = { ...found, submission: found.submission };
    const decision = await decide(due);
    const rewrite = await answerRewrite(context, due, decision);
    const { committed, after } = await commitDecision(context.deps, {
      operation: "deliver",
      before: due.submission,
      decision,
      actor: COURIER,
      now: due.now,
      intake: due.intake,
      ...rewrite,
    });
    if (committed.kind === "committed") return { ...due, submission: after as Deliverable };
  }
  throw new Error(`the delivery of ${job.submissionId} found no quiet moment`);
}
