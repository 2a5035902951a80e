import type { SetFieldsResponse } from "@formbridge/contract";
import { type FieldConflict, FormBridgeError, MergeConflictError } from "./error.ts";
import { applyResolutions, findConflicts, type Resolution } from "./merge.ts";
import { type KeyedOptions, newIdempotencyKey } from "./options.ts";

export interface SetOptions extends KeyedOptions {
  /** Called for each field that somebody else changed too. Without it such a write fails with both values. */
  resolve?(conflict: FieldConflict): Resolution | Promise<Resolution>;
  /**
   * The fields that the patch was made on, when that is not what this submission saw last. What was changed since then
   * counts as somebody else's change.
   */
  base?: Record<string, unknown>;
  /** How often to merge and write again before giving up. 3 unless a busy submission needs more. */
  mergeTries?: number;
}

interface Merge {
  patch: Record<string, unknown>;
  options: SetOptions;
  /** The fields of the version that the next write is made on. */
  known(): Record<string, unknown>;
  send(patch: Record<string, unknown>, idempotencyKey: string): Promise<SetFieldsResponse>;
  /** Loads the version that won; afterwards `known` returns its fields. */
  refresh(error: FormBridgeError): Promise<void>;
  onMerged(): void;
  /** The response when nothing is left to write. */
  unchanged(): Promise<SetFieldsResponse>;
}

const MERGE_TRIES = 3;

/** Writes a patch; on a 409 merges it with what is there now and writes again. */
export async function mergePatch(merge: Merge): Promise<SetFieldsResponse> {
  const { options } = merge;
  const { mergeTries = MERGE_TRIES, base: madeOn } = options;
  let idempotencyKey = options.idempotencyKey ?? newIdempotencyKey();
  let { patch } = merge;
  if (madeOn !== undefined) patch = await resolveAll({ patch, base: madeOn, current: merge.known(), options });
  for (let tries = 1; ; tries++) {
    if (Object.keys(patch).length === 0 && patch !== merge.patch) return await merge.unchanged();
    const base = merge.known();
    try {
      return await merge.send(patch, idempotencyKey);
    } catch (error) {
      const isStale = error instanceof FormBridgeError && error.type === "token_conflict";
      if (!isStale || tries > mergeTries) throw error;
      await merge.refresh(error);
      const left = await resolveAll({ patch, base, current: merge.known(), error, options });
      // Nothing was recorded for the refused write; but with other fields it is another call.
      if (left !== patch) idempotencyKey = newIdempotencyKey();
      patch = left;
      merge.onMerged();
    }
  }
}

async function resolveAll(about: {
  patch: Record<string, unknown>;
  base: Record<string, unknown>;
  current: Record<string, unknown>;
  error?: FormBridgeError;
  options: SetOptions;
}): Promise<Record<string, unknown>> {
  const { patch, base, current, error, options } = about;
  const listed = error?.detail?.conflictDetails?.fields;
  const conflicts = findConflicts({ patch, base, current, ...(listed && { listed }) });
  if (conflicts.length === 0) return patch;
  if (options.resolve === undefined) throw new MergeConflictError(conflicts, error);
  const resolutions = new Map<string, Resolution>();
  for (const conflict of conflicts) resolutions.set(conflict.path, await options.resolve(conflict));
  return applyResolutions(patch, resolutions);
}
