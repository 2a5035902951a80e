import type { FileReference, Json, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { applyPatch, valueAt } from "../fields/apply-patch.ts";
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

/**
 * The fields with the file in the place it was announced for: appended to a list, otherwise replacing what is there.
 * Throws `invalid` if there is no such place, such as the tenth item of an empty list.
 */
export function placeFile(
  fields: JsonObject,
  { field, reference }: { field: string; reference: FileReference },
  intake: CompiledIntake,
): JsonObject {
  const file: Json = { ...reference };
  const value = maxFilesAt(field, intake) > 1 ? [...listAt(fields, field, intake), file] : file;
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
