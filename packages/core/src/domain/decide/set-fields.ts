import type { Actor, FieldError, FileReference, Json, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { applyPatch, type PatchResult } from "../fields/apply-patch.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Submission } from "../submission.ts";
import type { EditableState } from "../transitions.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface SetFields {
  fields: Record<string, unknown>;
}

/** Values that fail validation are stored all the same: partial work is never lost. Only what can't be stored is refused. */
export function decideSetFields(submission: Submission, command: SetFields, context: DecideContext): Decision {
  return patchFields(submission, command.fields, context);
}

/** Shared by `setFields` and `initialFields`, which follow the same rules. */
export function patchFields(submission: Submission, patch: Record<string, unknown>, context: DecideContext): Decision {
  const { intake, actor } = context;
  try {
    const result = applyPatch(submission.fields, attachUploads(submission, patch, intake), intake);
    const problems = [...foreignFills(result, { intake, actor }), ...forgedFiles(result, submission, intake)];
    if (problems.length > 0) return refuse(unstorable(problems));
    return {
      events: [
        {
          type: "field.updated",
          to: stateAfterWrite(submission, result),
          fields: result.fields,
          set: result.set,
          removed: result.removed,
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

function stateAfterWrite(submission: Submission, result: PatchResult): EditableState {
  const touched = result.set.length > 0 || result.removed.length > 0;
  if (submission.state === "draft" && !touched) return "draft";
  if (submission.state === "awaiting_upload" && submission.uploads.some((upload) => upload.confirmed === undefined)) {
    return "awaiting_upload";
  }
  return "in_progress";
}

/** A property may say who fills it; what a caller only declares about itself opens no human-only field. */
function foreignFills(result: PatchResult, who: { intake: CompiledIntake; actor: Actor }): FieldError[] {
  const problems: FieldError[] = [];
  if (!who.intake.hasFills) return problems;
  for (const path of [...result.set.map((leaf) => leaf.path), ...result.removed]) {
    const { fill } = who.intake.ruleAt(path);
    const allowed =
      fill === undefined ||
      (fill === "agent" && who.actor.kind === "agent") ||
      (fill === "human" && who.actor.kind === "human" && who.actor.declared !== true);
    if (allowed) continue;
    const name = path.join(".");
    problems.push({
      path: name,
      code: "custom",
      message: `${name} can only be set by ${fill === "human" ? "a human" : "an agent"}.`,
    });
  }
  return problems;
}

/** `{ uploadId }` of a confirmed upload stands for the whole reference; the reference itself is ours to write. */
function attachUploads(
  submission: Submission,
  patch: Record<string, unknown>,
  intake: CompiledIntake,
): Record<string, unknown> {
  if (submission.uploads.length === 0) return patch;
  const confirmed = new Map(
    submission.uploads.flatMap(
      (upload) => (upload.confirmed ? [[upload.uploadId, upload]] : []) as [string, typeof upload][],
    ),
  );
  const attach = (value: unknown, path: readonly string[]): unknown => {
    if (intake.ruleAt(path).file === undefined) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, attach(inner, [...path, key])]));
    }
    const one = (item: unknown): unknown => {
      if (typeof item !== "object" || item === null || !("uploadId" in item) || Object.keys(item).length !== 1)
        return item;
      const upload = confirmed.get(String(item.uploadId));
      return upload?.field === path.join(".") ? upload.confirmed : item;
    };
    return Array.isArray(value) ? value.map(one) : one(value);
  };
  return Object.fromEntries(Object.entries(patch).map(([key, value]) => [key, attach(value, key.split("."))]));
}

/** Whatever stands in a file field afterwards must be a reference that a confirmed upload of this submission made. */
function forgedFiles(result: PatchResult, submission: Submission, intake: CompiledIntake): FieldError[] {
  const problems: FieldError[] = [];
  if (!intake.hasFiles) return problems;
  const seen = new Set<string>();
  for (const { path } of result.set) {
    const filePath = path.findIndex((_, index) => intake.ruleAt(path.slice(0, index + 1)).file !== undefined);
    if (filePath === -1) continue;
    const place = path.slice(0, filePath + 1);
    const name = place.join(".");
    if (seen.has(name)) continue;
    seen.add(name);
    if (!isGenuine(valueAt(result.fields, place), name, submission)) {
      problems.push({
        path: name,
        code: "invalid_value",
        message: `${name} takes only { uploadId } of a confirmed upload of this submission.`,
        expected: "{ uploadId }",
      });
    }
  }
  return problems;
}

function isGenuine(value: Json | undefined, field: string, submission: Submission): boolean {
  const made = submission.uploads.flatMap((upload) =>
    upload.field === field && upload.confirmed !== undefined ? [upload.confirmed] : [],
  );
  const items = Array.isArray(value) ? value : [value];
  return items.every((item) => made.some((reference) => sameReference(item, reference)));
}

function sameReference(value: Json | undefined, reference: FileReference): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(reference) as (keyof FileReference)[];
  return Object.keys(value).length === keys.length && keys.every((key) => value[key] === reference[key]);
}

function valueAt(fields: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = fields;
  for (const segment of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Array.isArray(value) ? value[Number(segment)] : value[segment];
  }
  return value;
}
