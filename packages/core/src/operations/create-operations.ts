import { awaitChange } from "./await-change.ts";
import { cancel } from "./cancel.ts";
import { collectUpload } from "./collect-upload.ts";
import { confirmUpload } from "./confirm-upload.ts";
import { createHandoff } from "./create-handoff.ts";
import { createSubmission } from "./create-submission.ts";
import { deliver } from "./deliver.ts";
import type { Deps } from "./deps.ts";
import { describeLink } from "./describe-link.ts";
import { eraseSubmission } from "./erase-submission.ts";
import { escalate } from "./escalate.ts";
import { getEvents } from "./get-events.ts";
import { getSubmission } from "./get-submission.ts";
import { getUpload } from "./get-upload.ts";
import { getIntake, getIntakeSchema, listIntakes, putIntake, registerIntake, retireIntake } from "./intakes.ts";
import { createKey, issueKey, listKeys, revokeKey } from "./keys.ts";
import { listEvents } from "./list-events.ts";
import { listHandoffs } from "./list-handoffs.ts";
import { listReviews } from "./list-reviews.ts";
import { listSubmissions } from "./list-submissions.ts";
import { notify } from "./notify.ts";
import { checkCaller, openIntakes, watchIntakes } from "./open-intakes.ts";
import { openSession } from "./open-session.ts";
import { pushEvents } from "./push-events.ts";
import { readUpload } from "./read-upload.ts";
import { receiveUpload } from "./receive-upload.ts";
import { reissueToken } from "./reissue-token.ts";
import { requestUpload } from "./request-upload.ts";
import { resumeUpload } from "./resume-upload.ts";
import { retryDelivery } from "./retry-delivery.ts";
import { review } from "./review.ts";
import { reviewByLink } from "./review-by-link.ts";
import { revokeHandoff } from "./revoke-handoff.ts";
import { revokeTokens } from "./revoke-tokens.ts";
import { setFields } from "./set-fields.ts";
import { showReview } from "./show-review.ts";
import { signParts } from "./sign-parts.ts";
import { submit } from "./submit.ts";
import { createAuditTrail } from "./support/audit-trail.ts";
import { createCatalog } from "./support/catalog.ts";
import { storeError } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { sweep } from "./sweep.ts";
import { sweepFiles } from "./sweep-files.ts";
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

/** Every operation, one row each: a binding calls these and nothing below them. */
const OPERATIONS = {
  createSubmission,
  setFields,
  validate,
  requestUpload,
  confirmUpload,
  getUpload,
  receiveUpload,
  resumeUpload,
  signParts,
  readUpload,
  submit,
  review,
  showReview,
  reviewByLink,
  cancel,
  getSubmission,
  awaitChange,
  getEvents,
  watchEvents,
  revokeTokens,
  reissueToken,
  createHandoff,
  listHandoffs,
  revokeHandoff,
  openSession,
  describeLink,
  retryDelivery,
  eraseSubmission,
  listSubmissions,
  listReviews,
  listEvents,
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
  createWebhook,
  listWebhooks,
  getWebhook,
  deleteWebhook,
  enableWebhook,
  rotateWebhookSecret,
  deliver,
  escalate,
  pushEvents,
  notify,
  sweep,
  collectUpload,
  sweepFiles,
} as const;

type Bound<F> = F extends (context: Context, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never;

export type Operations = { [Name in keyof typeof OPERATIONS]: Bound<(typeof OPERATIONS)[Name]> } & {
  /** Writes the read audits that were gathered. */
  flushAudit(): Promise<void>;
};

type AnyOperation = (context: Context, ...rest: never[]) => Promise<unknown>;

export function createOperations(deps: Deps): Operations {
  const context: Context = {
    deps,
    catalog: createCatalog(deps.backend),
    auditTrail: createAuditTrail(deps),
    traffic: { lastCallAt: Number.NEGATIVE_INFINITY },
  };
  const bound = Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, operation]) => [name, bind(name, operation as AnyOperation, context)]),
  );
  return { ...bound, flushAudit: () => context.auditTrail.flush() } as Operations;
}

/** Times each call, and turns a store that is down into the contract's words. */
function bind(name: string, operation: AnyOperation, context: Context) {
  const { instrumentation } = context.deps;
  return async (...rest: never[]): Promise<unknown> => {
    const began = performance.now();
    if (name !== "sweep") context.traffic.lastCallAt = began;
    try {
      const result = await operation(context, ...rest);
      instrumentation.record({ name: "operation", operation: name, outcome: "ok", ms: performance.now() - began });
      return result;
    } catch (cause) {
      const error = storeError(cause);
      const outcome = error instanceof Error && "type" in error ? String(error.type) : "internal_error";
      instrumentation.record({ name: "operation", operation: name, outcome, ms: performance.now() - began });
      throw error;
    }
  };
}
