import type { FieldError } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { applyPatch, type PatchResult } from "../fields/apply-patch.ts";
import { settleFiles } from "../fields/files.ts";
import { foreignFills, ownLeaves } from "../fields/fills.ts";
import { boundedSize } from "../fields/size.ts";
import type { Instant } from "../instant.ts";
import type { Submission } from "../submission.ts";
import type { EditableState } from "../transitions.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";
import { pendingUploads } from "./validate.ts";

export interface SetFields {
  fields: Record<string, unknown>;
}

/** Values that fail validation are stored all the same: partial work is never lost. Only what can't be stored is refused. */
export function decideSetFields(submission: Submission, command: SetFields, context: DecideContext): Decision {
  return patchFields(submission, command.fields, context);
}

/** Shared by `setFields` and `initialFields`, which follow the same rules. */
export function patchFields(submission: Submission, patch: Record<string, unknown>, context: DecideContext): Decision {
  const { intake } = context;
  try {
    const { fields: before, uploads } = submission;
    const patched = applyPatch(before, patch, intake);
    const { result, problems } = settleFiles(patched, { before, uploads, intake });
    problems.push(...foreignFills({ before, after: result.fields, intake }, context));
    if (problems.length > 0) return refuse(unstorable(problems));
    const sizeBound = boundedSize(result, { bound: submission.sizeBound, max: context.policy.maxFieldsSize });
    return {
      events: [
        {
          type: "field.updated",
          to: stateAfterWrite(submission, result, context.now),
          fields: result.fields,
          set: ownLeaves(result.set, intake, context),
          removed: result.removed,
          sizeBound,
          missingCount: intake.validate(result.fields).missing.length,
        },
      ],
      token: "rotate",
    };
  } catch (error) {
    if (error instanceof ContractError) return refuse(error);
    throw error;
  }
}

const unstorable = (fields: FieldError[]): ContractError =>
  new ContractError("invalid", fields.map((field) => field.message).join(" "), {
    fields,
    nextActions: fields.map((field) => ({ action: "collect_field" as const, field: field.path, hint: field.message })),
  });

function stateAfterWrite(submission: Submission, result: PatchResult, now: Instant): EditableState {
  const touched = result.set.length > 0 || result.removed.length > 0;
  if (submission.state === "draft" && !touched) return "draft";
  if (submission.state === "awaiting_upload" && pendingUploads(submission, now).length > 0) return "awaiting_upload";
  return "in_progress";
}
