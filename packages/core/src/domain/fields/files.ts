import type { FieldError, FileReference, Json, JsonObject } from "@formbridge/contract";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Upload } from "../submission.ts";
import { type PatchResult, valueAt } from "./apply-patch.ts";
import { isJsonObject, isSameJson } from "./json-values.ts";
import { type Place, placesIn } from "./places.ts";

/** `items.3.receipt` and `items.0.receipt` are the same schema field. */
export const fieldOf = (path: string): string => path.replaceAll(/(^|\.)\d+(?=\.|$)/g, "$1#");

/**
 * A file field may only hold a reference from a confirmed upload of this submission for that field; a patch refers to
 * it as `{ uploadId }`. Checks the fields after the patch, so that no spelling of a path gets around it.
 */
export function settleFiles(
  patched: PatchResult,
  from: { before: JsonObject; uploads: readonly Upload[]; intake: CompiledIntake },
): { result: PatchResult; problems: FieldError[] } {
  const { before, uploads, intake } = from;
  if (!intake.hasFiles) return { result: patched, problems: [] };
  const problems: FieldError[] = [];
  const settled: { path: readonly string[]; value: Json }[] = [];
  for (const place of placesIn(patched.fields, intake)) {
    if (place.rule.file === undefined) continue;
    const known = valueAt(before, place.path);
    if (isSameJson(known, place.value)) continue;
    const value = genuine(place, uploads);
    if (value === undefined) problems.push(refused(place, uploads));
    else settled.push({ path: place.path, value });
  }
  return { result: settled.length === 0 ? patched : withValues(patched, settled), problems };
}

function refused({ path: at, value }: Place, uploads: readonly Upload[]): FieldError {
  const path = at.join(".");
  const own = fieldOf(path);
  const named = [value].flat().flatMap((item) => uploads.filter(({ uploadId }) => uploadId === uploadIdOf(item)));
  const message =
    named.map((upload) => reasonAgainst(upload, path, own)).find((reason) => reason !== undefined) ??
    `${path} takes only { uploadId } of a confirmed upload of this submission.`;
  return { path, code: "invalid_value", message, expected: "{ uploadId }" };
}

export const uploadIdOf = (value: Json): Json | undefined => (isJsonObject(value) ? value.uploadId : undefined);

/** Why an upload of this submission can't be used at a path; undefined if the upload isn't the problem. */
function reasonAgainst({ uploadId, field, confirmed }: Upload, path: string, own: string): string | undefined {
  if (confirmed === undefined) return `${uploadId} is not confirmed. Send its file and confirm it, then attach it.`;
  if (isFor(field, own)) return undefined;
  return `${uploadId} was uploaded for ${field} and can't be moved to ${path}. Upload the file for ${path} instead.`;
}

/** An item of a file list is a path below the field that its upload was announced for. */
function isFor(announced: string, own: string): boolean {
  const field = fieldOf(announced);
  return field === own || `${field}.#` === own;
}

/**
 * The value with every `{ uploadId }` replaced by the full reference, or undefined if it contains one that isn't ours.
 */
function genuine({ path, value }: Place, uploads: readonly Upload[]): Json | undefined {
  const field = fieldOf(path.join("."));
  const made = uploads.flatMap(({ field: announced, confirmed }) =>
    confirmed !== undefined && isFor(announced, field) ? [confirmed] : [],
  );
  if (!Array.isArray(value)) return referenceOf(value, made);
  const items = value.map((item) => referenceOf(item, made));
  return items.includes(undefined) ? undefined : (items as Json[]);
}

function referenceOf(value: Json, made: readonly FileReference[]): Json | undefined {
  if (!isJsonObject(value)) return undefined;
  const found = made.find(({ uploadId }) => uploadId === value.uploadId);
  if (found === undefined) return undefined;
  const reference = { ...found };
  const isShort = Object.keys(value).length === 1;
  return isShort || isSameJson(value, reference) ? reference : undefined;
}

function withValues(patched: PatchResult, settled: readonly { path: readonly string[]; value: Json }[]): PatchResult {
  const fields = structuredClone(patched.fields);
  for (const { path, value } of settled) {
    const parent = path.length === 1 ? fields : valueAt(fields, path.slice(0, -1));
    const name = path.at(-1);
    if (typeof parent !== "object" || parent === null || name === undefined) continue;
    (parent as JsonObject)[name] = value;
  }
  const set = patched.set.map((leaf) => ({ path: leaf.path, value: valueAt(fields, leaf.path) ?? leaf.value }));
  return { ...patched, fields, set };
}
