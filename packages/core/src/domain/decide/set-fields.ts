import type { FieldError } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { DomainEvent } from "../events.ts";
import { applyPatch, changedLeaves, type PatchResult } from "../fields/apply-patch.ts";
import { settleFiles } from "../fields/files.ts";
import { foreignFills } from "../fields/fills.ts";
import { boundedSize } from "../fields/size.ts";
import { followItems } from "../files/follow-items.ts";
import { stateWritten } from "../files/pending.ts";
import { fieldAction } from "../next-actions.ts";
import type { Submission } from "../submission.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface SetFields {
  fields: Record<string, unknown>;
}

/** Invalid values are stored anyway, so that partial work is never lost. Only what can't be stored is refused. */
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
    problems.push(...foreignFills({ before, after: result.fields }, context));
    if (problems.length > 0) return refuse(unstorable(problems, context));
    const sizeBound = boundedSize(result, { bound: submission.sizeBound, max: context.policy.maxFieldsSize });
    const unconfirmed = uploads.filter(({ confirmed }) => confirmed === undefined);
    const { moved, orphaned } = followItems(unconfirmed, { ...result, before }, intake);
    const rest = { uploads: uploads.filter((upload) => !orphaned.includes(upload)) };
    const to = isStillDraft(submission, result) ? "draft" : stateWritten(rest, context.now);
    return {
      events: [
        {
          type: "field.updated",
          to,
          fields: result.fields,
          set: changedLeaves(result.set, before),
          removed: result.removed,
          sizeBound,
          missingCount: intake.validate(result.fields).missing.length,
          ...(moved.length > 0 && { moved }),
        },
        ...orphaned.map(({ uploadId, field }): DomainEvent => ({ type: "upload.abandoned", to, uploadId, field })),
      ],
      token: "rotate",
    };
  } catch (error) {
    if (error instanceof ContractError) return refuse(error);
    throw error;
  }
}

const unstorable = (fields: FieldError[], context: DecideContext): ContractError =>
  new ContractError("invalid", fields.map((field) => field.message).join(" "), {
    fields,
    nextActions: fields.map((field) => fieldAction(field, context)),
  });

const isStillDraft = ({ state }: Submission, { set, removed }: PatchResult): boolean =>
  state === "draft" && set.length === 0 && removed.length === 0;
