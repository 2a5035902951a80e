import type { FileReference, Json, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { applyPatch, valueAt } from "../fields/apply-patch.ts";
import { uploadIdOf } from "../fields/files.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Upload } from "../submission.ts";

/** How many files the field takes: one, unless it is a list. */
export const maxFilesAt = (field: string, intake: CompiledIntake): number =>
  intake.ruleAt(intake.pathOf(field)).file?.maxFiles ?? 1;

/** How many files the field has. */
export const filesAt = (fields: JsonObject, field: string, intake: CompiledIntake): number =>
  listAt(fields, field, intake).length;

function listAt(fields: JsonObject, field: string, intake: CompiledIntake): Json[] {
  const value = valueAt(fields, intake.pathOf(field));
  return Array.isArray(value) ? value : [];
}

interface Placed {
  field: string;
  reference: FileReference;
  /** The uploads announced after this one: in a list, their files come after it, even if they arrived first. */
  later?: readonly Upload[];
}

/**
 * The fields with the file in the place it was announced for: added to a list, otherwise replacing what is there.
 * Throws `invalid` if there is no such place, such as the tenth item of an empty list.
 */
export function placeFile(
  fields: JsonObject,
  { field, reference, later = [] }: Placed,
  intake: CompiledIntake,
): JsonObject {
  const file: Json = { ...reference };
  if (maxFilesAt(field, intake) <= 1) return applyPatch(fields, { [field]: file }, intake).fields;
  const files = listAt(fields, field, intake);
  const next = files.findIndex((other) => later.some(({ uploadId }) => uploadId === uploadIdOf(other)));
  const value = files.toSpliced(next < 0 ? files.length : next, 0, file);
  return applyPatch(fields, { [field]: value }, intake).fields;
}

/** The fields once the given uploads are confirmed. Uploads that no longer have a place are left out. */
export function fieldsOnceArrived(fields: JsonObject, uploads: readonly Upload[], intake: CompiledIntake): JsonObject {
  let filled = fields;
  for (const { uploadId, field, filename, mimeType, sizeBytes, sha256 = "" } of uploads) {
    const reference = { uploadId, filename, mimeType, sizeBytes, sha256 };
    try {
      filled = placeFile(filled, { field, reference }, intake);
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
    }
  }
  return filled;
}
