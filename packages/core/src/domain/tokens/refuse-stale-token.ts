import { ContractError } from "../error.ts";
import { applyPatch } from "../fields/apply-patch.ts";
import { conflictingPaths } from "../fields/conflicts.ts";
import { maskFields } from "../fields/mask.ts";
import { toIso } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "./refuse-ended.ts";
import type { TokenRow } from "./token-row.ts";

/** What a write is based on: its token, and any versions given with it. */
export interface Basis {
  /** Absent for a review or cancel with an API key, which name no version. */
  token?: Pick<TokenRow, "version" | "rotatedAt">;
  versions: readonly number[];
}

/**
 * Refuses a stale token: a write succeeds only on the version it is based on, so that no actor overwrites another.
 * Returns the 409, or undefined if the basis is the current version.
 */
export function refuseStaleToken(
  submission: Submission,
  basis: Basis,
  told: { intake: CompiledIntake; attempted?: Record<string, unknown>; mayLearn: boolean },
): ContractError | undefined {
  const { token, versions } = basis;
  const given = token === undefined ? versions : [token.version, ...versions];
  const yourVersion = given.find((version) => version !== submission.version);
  if (yourVersion === undefined) return undefined;
  return new ContractError(
    "token_conflict",
    `Somebody else changed the submission: it is at version ${submission.version}, and your call was based on version ${yourVersion}.`,
    {
      about: aboutOf(submission),
      yourVersion,
      ...(token?.rotatedAt !== undefined && { rotatedAt: toIso(token.rotatedAt) }),
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
    // The attempted fields couldn't be stored on any version, so there is nothing to merge.
    if (error instanceof ContractError) return { fields: Object.keys(call.attempted), canAutoMerge: false };
    throw error;
  }
}
