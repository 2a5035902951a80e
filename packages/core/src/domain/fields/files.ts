import type { FieldError, FileReference, Json, JsonObject } from "@formbridge/contract";
import { canonicalJson } from "../hashing.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Upload } from "../submission.ts";
import { type PatchResult, valueAt } from "./apply-patch.ts";
import { type Place, placesIn } from "./places.ts";

/** `items.3.receipt` and `items.0.receipt` are one field of the schema. */
export const fieldOf = (path: string): string => path.replaceAll(/(^|\.)\d+(?=\.|$)/g, "$1#");

/**
 * What stands in a file field is a reference that a confirmed upload of this submission made for that field; `{ uploadId }`
 * stands for it in a patch. Looks at the fields as they are after the patch, so no spelling of it gets past.
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
    if (known !== undefined && canonicalJson(known) === canonicalJson(place.value)) continue;
    const value = genuine(place, uploads);
    if (value === undefined) problems.push(forged(place.path.join(".")));
    else settled.push({ path: place.path, value });
  }
  return { result: settled.length === 0 ? patched : withValues(patched, settled), problems };
}

const forged = (path: string): FieldError => ({
  path,
  code: "invalid_value",
  message: `${path} takes only { uploadId } of a confirmed upload of this submission.`,
  expected: "{ uploadId }",
});

/** The value with every `{ uploadId }` made whole, or undefined when something in it is not ours. */
function genuine({ path, value }: Place, uploads: readonly Upload[]): Json | undefined {
  const field = fieldOf(path.join("."));
  // A member of a list of files is a place below the field that the upload was announced for.
  const made = uploads.flatMap((upload) => {
    const own = fieldOf(upload.field);
    return upload.confirmed !== undefined && (own === field || `${own}.#` === field) ? [upload.confirmed] : [];
  });
  if (!Array.isArray(value)) return referenceOf(value, made);
  const items = value.map((item) => referenceOf(item, made));
  return items.includes(undefined) ? undefined : (items as Json[]);
}

function referenceOf(value: Json, made: readonly FileReference[]): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const reference = made.find(({ uploadId }) => uploadId === value.uploadId);
  if (reference === undefined) return undefined;
  const isShort = Object.keys(value).length === 1;
  return isShort || canonicalJson(value) === canonicalJson(reference) ? { ...reference } : undefined;
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
