import type { FieldError, NextAction } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Instant } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { allSchemas } from "../intake/schema-nodes.ts";
import type { Submission, Upload } from "../submission.ts";
import { aboutOf } from "../tokens/refuse-ended.ts";
import { pendingUploads } from "./pending.ts";
import { maxFilesAt } from "./placement.ts";

interface Seen {
  intake: CompiledIntake;
  now: Instant;
}

/** Announce a file for this field, with what it accepts. */
export function announceAction(field: string, hint: string, intake: CompiledIntake): NextAction {
  const { file } = intake.ruleAt(intake.pathOf(field));
  return {
    action: "request_upload",
    field,
    hint,
    ...(file && { accept: file.accept, maxBytes: file.maxBytes }),
  };
}

/** What to do about a file that was announced but not confirmed. */
export function pendingAction({ field, uploadId }: Upload, intake: CompiledIntake): NextAction {
  const otherwise =
    maxFilesAt(field, intake) > 1 ? "or abandon the upload" : "or announce the file again, which replaces this upload";
  const hint = `${uploadId} was announced for ${field}. Send the file to its URL and confirm it, ${otherwise}.`;
  return { ...announceAction(field, hint, intake), uploadId };
}

/** A pending upload as a finding, for validate and submit. */
export const pendingProblem = ({ field, uploadId }: Upload): FieldError => ({
  path: field,
  code: "file_required",
  message: `The file for ${field} was announced (${uploadId}) but hasn't arrived.`,
});

/** For an upload that the submission doesn't have: superseded by a newer one, or it never existed. */
export function unknownUpload(submission: Submission, uploadId: string, { intake, now }: Seen): ContractError {
  const newer = submission.uploads.find(({ supersedes }) => supersedes?.includes(uploadId));
  if (newer !== undefined) return superseded(uploadId, newer, { submission, intake });
  const actions = pendingUploads(submission, now).map((upload) => pendingAction(upload, intake));
  return new ContractError("not_found", "This submission has no such upload. Announce the file again.", {
    about: aboutOf(submission),
    nextActions: actions.length > 0 ? actions : [anyUpload(intake)],
  });
}

function superseded(
  uploadId: string,
  newer: Upload,
  { submission, intake }: { submission: Submission; intake: CompiledIntake },
): ContractError {
  const { field, confirmed } = newer;
  const replaced = `${uploadId} was superseded by ${newer.uploadId}, a newer upload for ${field}`;
  const about = aboutOf(submission);
  if (confirmed === undefined) {
    const nextActions = [pendingAction(newer, intake)];
    return new ContractError("conflict", `${replaced}. Send the file there.`, { about, nextActions });
  }
  const hint = `To replace the file of ${newer.uploadId}, announce another one.`;
  const nextActions = [announceAction(field, hint, intake)];
  return new ContractError("conflict", `${replaced}, which is already confirmed.`, { about, nextActions });
}

/** The file can't be downloaded yet. */
export const notConfirmed = (submission: Submission, upload: Upload, intake: CompiledIntake): ContractError =>
  new ContractError("not_found", "The file of this upload hasn't been confirmed yet.", {
    about: aboutOf(submission),
    nextActions: [pendingAction(upload, intake)],
  });

export function alreadyConfirmed(submission: Submission, upload: Upload, intake: CompiledIntake): ContractError {
  const hint = `${upload.field} has this file. To replace it, announce another one; to remove it, set the field to null.`;
  return new ContractError("conflict", "The upload is already confirmed.", {
    about: aboutOf(submission),
    nextActions: [announceAction(upload.field, hint, intake)],
  });
}

/** The fields have no such place, usually an item beyond the end of a list. */
export function noPlace(field: string, cause: ContractError): ContractError {
  const [problem] = cause.detail.fields ?? [];
  const why = problem === undefined ? cause.message : `${problem.message}. Set the item first, then announce its file.`;
  const message = `The file can't be placed: ${why}`;
  return new ContractError("invalid", message, {
    fields: [{ path: field, code: "invalid_value", message }],
    nextActions: [{ action: "collect_field", field: field.replace(/\.[^.]*$/, ""), hint: message }],
    cause,
  });
}

const MAX_SUGGESTED = 5;

/** For a caller that didn't name a file field: the existing ones. */
export function fileFieldActions(intake: CompiledIntake): NextAction[] {
  const fields = fileFields(intake).slice(0, MAX_SUGGESTED);
  return fields.length === 0
    ? [anyUpload(intake)]
    : fields.map((field) => announceAction(field, `${field} takes a file.`, intake));
}

function anyUpload(intake: CompiledIntake): NextAction {
  const [field] = fileFields(intake);
  if (field !== undefined) return announceAction(field, "Announce the file again.", intake);
  return { action: "fetch_current_state", hint: "Read the submission to see what it needs." };
}

/** Dot-paths of the file fields declared directly; the first item represents all items of a list. */
function fileFields({ definition: { schema } }: CompiledIntake): string[] {
  const found: string[] = [];
  for (const { node, at } of allSchemas(schema)) {
    if (node["x-file"] === undefined) continue;
    const path = pathOf(at);
    if (path !== undefined) found.push(path);
  }
  return found.sort();
}

function pathOf(at: readonly string[]): string | undefined {
  const path: string[] = [];
  for (let index = 0; index < at.length; index++) {
    if (at[index] === "items") path.push("0");
    else if (at[index] === "properties") path.push(at[++index] ?? "");
    else return undefined;
  }
  return path.join(".");
}
