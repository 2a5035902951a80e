import type { FieldError, FileReference, Json, JsonObject } from "@formbridge/contract";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { isIndex } from "../intake/schema-nodes.ts";
import type { Upload } from "../submission.ts";
import { type PatchResult, type Path, valueAt } from "./apply-patch.ts";
import { isJsonObject, isSameJson } from "./json-values.ts";
import { type Place, placesIn } from "./places.ts";

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
  const isFor = matcher(patched.fields, intake);
  const problems: FieldError[] = [];
  const settled: { path: readonly string[]; value: Json }[] = [];
  for (const place of placesIn(patched.fields, intake)) {
    if (place.rule.file === undefined) continue;
    const known = valueAt(before, place.path);
    if (isSameJson(known, place.value)) continue;
    const made = uploads.filter((upload) => isFor(upload, place.path));
    const value = genuine(place, made);
    if (value === undefined) problems.push(refused(place, { uploads, made }));
    else settled.push({ path: place.path, value });
  }
  return { result: settled.length === 0 ? patched : withValues(patched, settled), problems };
}

/**
 * Whether an upload was announced for the field at a path of these fields. The items of a list share their fields:
 * `items.3.receipt` and `items.0.receipt`. An object's members don't, even if their names are numbers.
 */
function matcher(fields: JsonObject, intake: CompiledIntake) {
  return ({ field }: Upload, path: Path): boolean => {
    const announced = intake.pathOf(field);
    const isItem = (depth: number): boolean => Array.isArray(valueAt(fields, path.slice(0, depth)));
    const isSame = (segment: string, depth: number): boolean =>
      announced[depth] === segment || (isItem(depth) && isIndex(announced[depth] ?? ""));
    // An item of a file list is a path below the field that its upload was announced for.
    const isBelow = path.length === announced.length + 1 && isItem(announced.length);
    return (path.length === announced.length || isBelow) && path.slice(0, announced.length).every(isSame);
  };
}

interface Candidates {
  uploads: readonly Upload[];
  /** Those announced for the place. */
  made: readonly Upload[];
}

function refused({ path: at, value }: Place, { uploads, made }: Candidates): FieldError {
  const path = at.join(".");
  const named = [value].flat().flatMap((item) => uploads.filter(({ uploadId }) => uploadId === uploadIdOf(item)));
  const message =
    named.map((upload) => reasonAgainst(upload, path, made)).find((reason) => reason !== undefined) ??
    `${path} takes only { uploadId } of a confirmed upload of this submission.`;
  return { path, code: "invalid_value", message, expected: "{ uploadId }" };
}

export const uploadIdOf = (value: Json): Json | undefined => (isJsonObject(value) ? value.uploadId : undefined);

/** Why an upload of this submission can't be used at a path; undefined if the upload isn't the problem. */
function reasonAgainst(upload: Upload, path: string, made: readonly Upload[]): string | undefined {
  const { uploadId, field, confirmed } = upload;
  if (confirmed === undefined) return `${uploadId} is not confirmed. Send its file and confirm it, then attach it.`;
  if (made.includes(upload)) return undefined;
  return `${uploadId} was uploaded for ${field} and can't be moved to ${path}. Upload the file for ${path} instead.`;
}

/**
 * The value with every `{ uploadId }` replaced by the full reference, or undefined if it contains one that isn't ours.
 */
function genuine({ value }: Place, made: readonly Upload[]): Json | undefined {
  const references = made.flatMap(({ confirmed }) => (confirmed === undefined ? [] : [confirmed]));
  if (!Array.isArray(value)) return referenceOf(value, references);
  const items = value.map((item) => referenceOf(item, references));
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
