import type { FieldError, NextAction } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { pendingAction } from "../files/refusals.ts";
import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";
import { fieldAction } from "../next-actions.ts";
import type { Submission, Upload } from "../submission.ts";
import type { DecideContext, Decision } from "./decision.ts";
import { routeOnward } from "./route-onward.ts";
import { type Problems, problemsOf, stateFound } from "./validate.ts";

export interface Submit {
  /** The record of the response, and until when it waits for the first delivery attempt. */
  answer?: { key: Hash; by: Instant };
}

/** A submit either finds no problems, or is recorded as failed and keeps the token current. */
export function decideSubmit(submission: Submission, command: Submit, context: DecideContext): Decision {
  const problems = problemsOf(submission, context);
  const refusal = unready(problems, context);
  if (refusal !== undefined) {
    const to = stateFound(submission, problems);
    const { missing, errors } = problems;
    return { events: [{ type: "validation.failed", to, missing, errors }], token: "keep", refusal };
  }
  const onward = routeOnward(submission, 0, context);
  const isSent = command.answer !== undefined && onward.jobs.some(({ kind }) => kind === "deliver");
  return {
    events: [
      { type: "submission.submitted", deliveryId: context.newId("dlv"), ...(isSent && { answer: command.answer }) },
      ...onward.events,
    ],
    token: "rotate",
    jobs: onward.jobs,
  };
}

function unready({ pending, missingOtherwise, errors: fields }: Problems, context: DecideContext) {
  if (fields.length === 0) return undefined;
  const nextActions = fields.flatMap((field): NextAction[] => nextActionsFor(field, pending, context));
  if (missingOtherwise.length > 0) {
    return new ContractError("missing", `Required: ${missingOtherwise.join(", ")}.`, { fields, nextActions });
  }
  if (pending.length > 0) {
    const waiting = pending.map(({ field, uploadId }) => `${field} (${uploadId})`).join(", ");
    const words = `Announced files have not arrived: ${waiting}.`;
    return new ContractError("upload_pending", words, { fields, nextActions });
  }
  return new ContractError("invalid", fields.map((error) => error.message).join(" "), { fields, nextActions });
}

function nextActionsFor(field: FieldError, pending: readonly Upload[], context: DecideContext): NextAction[] {
  const { intake } = context;
  const action = fieldAction(field, context);
  const waiting = pending.filter((upload) => upload.field === field.path);
  return action.action === "request_upload" && waiting.length > 0
    ? waiting.map((upload) => pendingAction(upload, intake))
    : [action];
}
