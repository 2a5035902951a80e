import { ContractError } from "../error.ts";
import { applyPatch } from "../fields/apply-patch.ts";
import { conflictingPaths } from "../fields/conflicts.ts";
import { maskFields } from "../fields/mask.ts";
import { toIso } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "./refuse-ended.ts";

/** What a write says it was made on: the version of its token, and versions given beside it. */
export interface Basis {
  /** Absent for a review or cancel by key, which name no version. */
  tokenVersion?: number;
  versions: readonly number[];
}

/**
 * A stale token is refused here: a write goes through only on the version that it was made on. This is what keeps one
 * actor from overwriting another. Returns the 409, or nothing when the basis is the current version.
 */
export function refuseStaleToken(
  submission: Submission,
  basis: Basis,
  told: { intake: CompiledIntake; attempted?: Record<string, unknown>; mayLearn: boolean },
): ContractError | undefined {
  const given = basis.tokenVersion === undefined ? basis.versions : [basis.tokenVersion, ...basis.versions];
  const yourVersion = given.find((version) => version !== submission.version);
  if (yourVersion === undefined) return undefined;
  return new ContractError(
    "token_conflict",
    `The submission was changed by another actor: it is at version ${submission.version}, your call was made on ${yourVersion}.`,
    {
      about: aboutOf(submission),
      yourVersion,
      nextActions: [
        {
          action: "fetch_current_state",
          hint: `Read version ${submission.version}, merge your changes, and call again with its resumeToken.`,
        },
      ],
      ...(told.mayLearn && {
        conflictDetails: conflictDetails(submission, { yourVersion, ...told }),
        current: {
          version: submission.version,
          fields: maskFields(submission.fields, told.intake),
          updatedAt: toIso(submission.updatedAt),
          updatedBy: submission.lastUpdatedBy,
        },
      }),
    },
  );
}

function conflictDetails(
  submission: Submission,
  call: { yourVersion: number; intake: CompiledIntake; attempted?: Record<string, unknown> },
): { fields: string[]; canAutoMerge: boolean } {
  if (call.attempted === undefined) return { fields: [], canAutoMerge: true };
  try {
    const fields = conflictingPaths({
      attempted: applyPatch(submission.fields, call.attempted, call.intake),
      current: submission.fields,
      changedAt: { ...submission.attribution.removed, ...submission.attribution.paths },
      sinceVersion: call.yourVersion,
    });
    return { fields, canAutoMerge: fields.length === 0 };
  } catch (error) {
    // The attempted fields could not be stored on any version; there is nothing to merge.
    if (error instanceof ContractError) return { fields: Object.keys(call.attempted), canAutoMerge: false };
    throw error;
  }
}
