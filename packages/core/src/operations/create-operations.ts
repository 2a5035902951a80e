import { ContractError } from "../domain/error.ts";
import type { CallFacts } from "../ports/instrumentation.ts";
import { shortHash, type Tracing } from "../ports/tracing.ts";
import { abandonUpload } from "./abandon-upload.ts";
import { raiseIncidents } from "./alarms/raise-incidents.ts";
import { createWatch } from "./alarms/watch.ts";
import { createAuditTrail } from "./audit/audit-trail.ts";
import { awaitChange } from "./await-change.ts";
import { createBlock, listBlocks, removeBlock } from "./blocks.ts";
import type { Caller } from "./caller.ts";
import { cancel } from "./cancel.ts";
import { changeDestination } from "./change-destination.ts";
import { collectUpload } from "./collect-upload.ts";
import { completeHandoff } from "./complete-handoff.ts";
import { confirmUpload } from "./confirm-upload.ts";
import type { Context } from "./context.ts";
import { createHandoff } from "./create-handoff.ts";
import { createSubmission } from "./create-submission.ts";
import { deliver } from "./deliver.ts";
import type { Deps } from "./deps.ts";
import { describeLink } from "./describe-link.ts";
import { describePublished } from "./describe-published.ts";
import { eraseActor, eraseActorFor } from "./erase-actor.ts";
import { eraseSubmission } from "./erase-submission.ts";
import { escalate } from "./escalate.ts";
import { createUploadUsage } from "./files/upload-usage.ts";
import { getEvents } from "./get-events.ts";
import { getPublished } from "./get-published.ts";
import { getReviewEvents } from "./get-review-events.ts";
import { getSubmission } from "./get-submission.ts";
import { getSubmissionIntake } from "./get-submission-intake.ts";
import { getUpload } from "./get-upload.ts";
import { createReplayLog } from "./idempotency/replay-log.ts";
import { acknowledgeIncident, closeIncident, listIncidents } from "./incidents.ts";
import { getIntake, getIntakeSchema, listIntakes, putIntake, registerIntake, retireIntake } from "./intakes.ts";
import { deleteKeyRecord, findKeyRecords } from "./key-records.ts";
import { createKey, issueKey, listKeys, revokeKey } from "./keys.ts";
import { lapseToken } from "./lapse-token.ts";
import { listAllHandoffs } from "./list-all-handoffs.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { listEvents } from "./list-events.ts";
import { listHandoffs } from "./list-handoffs.ts";
import { listPublished } from "./list-published.ts";
import { listPublishedSets } from "./list-published-sets.ts";
import { listReviews } from "./list-reviews.ts";
import { listSubmissions } from "./list-submissions.ts";
import { listTokens } from "./list-tokens.ts";
import { notify } from "./notify.ts";
import { checkCaller, openIntakes, watchIntakes } from "./open-intakes.ts";
import { openSession } from "./open-session.ts";
import { pushEvents } from "./push-events.ts";
import { createCatalog } from "./read/catalog.ts";
import { readUpload } from "./read-upload.ts";
import { reassignReview } from "./reassign-review.ts";
import { receiveUpload } from "./receive-upload.ts";
import { reissueToken } from "./reissue-token.ts";
import { renewToken } from "./renew-token.ts";
import { replayEvents } from "./replay-events.ts";
import { requestUpload } from "./request-upload.ts";
import { resumeUpload } from "./resume-upload.ts";
import { retryDeliveries } from "./retry-deliveries.ts";
import { retryDelivery } from "./retry-delivery.ts";
import { review } from "./review.ts";
import { reviewByLink } from "./review-by-link.ts";
import { revokeHandoff } from "./revoke-handoff.ts";
import { revokeTokens } from "./revoke-tokens.ts";
import { setFields } from "./set-fields.ts";
import { showReview } from "./show-review.ts";
import { signParts } from "./sign-parts.ts";
import { skipEvents } from "./skip-events.ts";
import { submit } from "./submit.ts";
import { sweep } from "./sweep.ts";
import { sweepFiles } from "./sweep-files.ts";
import { testWebhook } from "./test-webhook.ts";
import { validate } from "./validate.ts";
import { watchEvents } from "./watch-events.ts";
import {
  createWebhook,
  deleteWebhook,
  enableWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
} from "./webhooks.ts";
import { storeError } from "./write/commit.ts";

/** Every operation, one row each: bindings call only these. */
const OPERATIONS = {
  createSubmission,
  setFields,
  validate,
  requestUpload,
  confirmUpload,
  abandonUpload,
  getSubmissionIntake,
  getUpload,
  receiveUpload,
  resumeUpload,
  signParts,
  readUpload,
  submit,
  review,
  reassignReview,
  showReview,
  getReviewEvents,
  reviewByLink,
  cancel,
  getSubmission,
  awaitChange,
  getEvents,
  watchEvents,
  revokeTokens,
  reissueToken,
  renewToken,
  createHandoff,
  listHandoffs,
  listAllHandoffs,
  completeHandoff,
  revokeHandoff,
  openSession,
  describeLink,
  retryDelivery,
  listDeliveries,
  retryDeliveries,
  changeDestination,
  eraseSubmission,
  eraseActor,
  eraseActorFor,
  listSubmissions,
  listReviews,
  listEvents,
  listPublished,
  getPublished,
  describePublished,
  listPublishedSets,
  listIntakes,
  getIntake,
  getIntakeSchema,
  putIntake,
  retireIntake,
  registerIntake,
  openIntakes,
  checkCaller,
  watchIntakes,
  createKey,
  issueKey,
  listKeys,
  revokeKey,
  findKeyRecords,
  deleteKeyRecord,
  listTokens,
  createWebhook,
  listWebhooks,
  getWebhook,
  deleteWebhook,
  enableWebhook,
  rotateWebhookSecret,
  testWebhook,
  skipEvents,
  replayEvents,
  deliver,
  escalate,
  lapseToken,
  pushEvents,
  listIncidents,
  acknowledgeIncident,
  closeIncident,
  createBlock,
  listBlocks,
  removeBlock,
  notify,
  sweep,
  collectUpload,
  sweepFiles,
} as const;

type Bound<F> = F extends (context: Context, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never;

export type Operations = { [Name in keyof typeof OPERATIONS]: Bound<(typeof OPERATIONS)[Name]> } & {
  /** Writes the collected read audits, and raises the alarms that they trip. */
  flushAudit(): Promise<void>;
};

type AnyOperation = (context: Context, ...rest: never[]) => Promise<unknown>;

/** `parts`: objects that a simulation creates itself, to keep them across restarts or to observe them. */
export function createOperations(deps: Deps, parts: Partial<Pick<Context, "catalog" | "auditTrail">> = {}): Operations {
  const catalog = parts.catalog ?? createCatalog(deps.backend);
  const context: Context = {
    deps,
    catalog,
    watch: createWatch(deps, catalog),
    auditTrail: createAuditTrail(deps),
    uploadUsage: createUploadUsage(deps.backend.submissions),
    startedAt: 0,
    facts: {},
    replayLog: createReplayLog(deps),
    traffic: { lastCallAt: Number.NEGATIVE_INFINITY },
    ...parts,
  };
  const bound = Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, operation]) => [name, bind(name, operation as AnyOperation, context)]),
  );
  const flushAudit = async (): Promise<void> => {
    await context.auditTrail.flush();
    await raiseIncidents(context);
  };
  return { ...bound, flushAudit } as Operations;
}

/** Times each call, and turns a store failure into a contract error. */
function bind(name: string, operation: AnyOperation, context: Context) {
  const { instrumentation, tracing } = context.deps;
  const ended = (facts: CallFacts, outcome: string, began: number): void => {
    facts.operation = name;
    facts.outcome = outcome;
    if (tracing.isOn) describe(tracing, facts);
    instrumentation.record({ name: "operation", operation: name, outcome, ms: performance.now() - began, facts });
  };
  const run = async (...rest: never[]): Promise<unknown> => {
    const began = performance.now();
    if (name !== "sweep") context.traffic.lastCallAt = began;
    const facts = factsFor(rest[0]);
    try {
      const result = await operation({ ...context, startedAt: began, facts }, ...rest);
      ended(facts, "ok", began);
      return result;
    } catch (cause) {
      const error = storeError(cause);
      const outcome = error instanceof Error && "type" in error ? String(error.type) : "internal_error";
      if (outcome === "service_unavailable") {
        // Waiting doesn't help: the server isn't set up for the call, so this is no outage.
        if (error instanceof ContractError && !error.detail.retryable) facts.notSetUp = true;
        // The store failed before it could determine whether the token is valid.
        else if (facts.presented === true) facts.failure ??= "unavailable";
      }
      ended(facts, outcome, began);
      throw error;
    }
  };
  if (!tracing.isOn) return run;
  const span = SPAN_NAMES[name] ?? name;
  return (...rest: never[]): Promise<unknown> => tracing.entry(span, () => run(...rest), originOf(rest[0]));
}

/** Where the name of a span isn't that of its operation. */
const SPAN_NAMES: Readonly<Record<string, string>> = { createSubmission: "createSubmissionWithToken" };

/** Work without a caller is the server's own, whatever triggered it. */
function originOf(call: unknown): { parent?: string | undefined; alone?: true } {
  const { caller } = (typeof call === "object" && call !== null ? call : {}) as { caller?: Caller };
  return caller === undefined ? { alone: true } : { parent: caller.traceparent };
}

function describe(tracing: Tracing, facts: CallFacts): void {
  const traceId = tracing.traceId();
  if (traceId !== undefined) facts.traceId = traceId;
  tracing.describe({
    operation: facts.operation,
    outcome: facts.outcome,
    "intake.id": facts.intakeId,
    "submission.id": facts.submissionId,
    "token.hash": facts.tokenHash && shortHash(facts.tokenHash),
    "token.version": facts.version,
    "idempotency.key_hash": facts.key && shortHash(facts.key.hash),
    "idempotency.replayed": facts.replayed,
    "actor.kind": facts.actor?.kind,
  });
}

/** The transport's own if it passed one in; for a job, the submission is known from the start. */
function factsFor(call: unknown): CallFacts {
  if (typeof call !== "object" || call === null) return {};
  const { caller, submissionId } = call as { caller?: { facts?: CallFacts }; submissionId?: unknown };
  return caller?.facts ?? (typeof submissionId === "string" ? { submissionId } : {});
}
