import type { NextAction } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";
import type { Findings } from "../intake/compiled-intake.ts";
import type { Submission } from "../submission.ts";
import type { DecideContext, Decision } from "./decision.ts";
import { routeOnward } from "./route-onward.ts";
import { pendingUploads, stateFound } from "./validate.ts";

export interface Submit {
  /** Where the answer is recorded, and until when it waits for the first delivery. */
  answer?: { key: Hash; by: Instant };
}

/** Nothing unvalidated goes on: a submit either finds no problem, or is recorded as failed and leaves the token current. */
export function decideSubmit(submission: Submission, command: Submit, context: DecideContext): Decision {
  const findings = context.intake.validate(submission.fields);
  const refusal = unready(submission, findings, context);
  if (refusal !== undefined) {
    const to = stateFound(submission, findings, context.now);
    return {
      events: [{ type: "validation.failed", to, missing: findings.missing, errors: findings.errors }],
      token: "keep",
      refusal,
    };
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

function unready(submission: Submission, findings: Findings, context: DecideContext): ContractError | undefined {
  const pending = pendingUploads(submission, context.now);
  const fields = [
    ...findings.errors,
    ...pending.map((upload) => ({
      path: upload.field,
      code: "file_required" as const,
      message: `The file for ${upload.field} has not arrived.`,
    })),
  ];
  if (fields.length === 0) return undefined;
  const nextActions = fields.map((field): NextAction => nextAction(field, context));
  if (findings.missing.length > 0) {
    return new ContractError("missing", `Required: ${findings.missing.join(", ")}.`, { fields, nextActions });
  }
  if (pending.length > 0) {
    return new ContractError("upload_pending", "A file was announced and has not arrived.", { fields, nextActions });
  }
  return new ContractError("invalid", findings.errors.map((error) => error.message).join(" "), { fields, nextActions });
}

function nextAction(field: { path: string; code: string; message: string }, { intake }: DecideContext): NextAction {
  const { file, fill } = intake.ruleAt(intake.pathOf(field.path));
  if (file !== undefined) {
    return {
      action: "request_upload",
      field: field.path,
      hint: field.message,
      accept: file.accept,
      maxBytes: file.maxBytes,
    };
  }
  return { action: fill === "human" ? "request_handoff" : "collect_field", field: field.path, hint: field.message };
}
