import type { FieldError, NextAction } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { DomainEvent } from "../events.ts";
import { handOverFor, mayFill, notYours } from "../fields/fills.ts";
import { accepts } from "../files/content-type.ts";
import { displayName } from "../files/display-name.ts";
import { pendingUploads } from "../files/pending.ts";
import { fieldsOnceArrived, filesAt, maxFilesAt, placeFile } from "../files/placement.ts";
import { announceAction, fileFieldActions, noPlace, pendingAction } from "../files/refusals.ts";
import type { Submission, Upload } from "../submission.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface RequestUpload {
  field: string;
  filename: string;
  mimeType: string;
  sizeBytes: number;
  sha256?: string;
  /** Announced without an API key. */
  anonymous?: true;
}

/** Includes confirmed ones, which are part of the record. */
const MAX_UPLOADS = 500;
/** How many superseded uploads are remembered; earlier ones are reported as unknown. */
const MAX_SUPERSEDED = 20;

/** A new upload for a single-file field supersedes the older ones, because only one file can end up there. */
export function decideRequestUpload(submission: Submission, command: RequestUpload, context: DecideContext): Decision {
  const older = supersededBy(submission, command.field, context);
  const rest = { ...submission, uploads: submission.uploads.filter((upload) => !older.includes(upload)) };
  const refusal = refusalOf(rest, command, context);
  if (refusal !== undefined) return refuse(refusal);
  const uploadId = context.newId("upl");
  const supersedes = older.flatMap((upload) => [...(upload.supersedes ?? []), upload.uploadId]).slice(-MAX_SUPERSEDED);
  const upload: Upload = {
    uploadId,
    ...command,
    filename: displayName(command.filename),
    requestedAt: context.now,
    expiresAt: context.now + context.policy.uploadTtlMs,
    ...(supersedes.length > 0 && { supersedes }),
  };
  const abandoned = older.map(
    ({ uploadId: old, field }): DomainEvent => ({
      type: "upload.abandoned",
      to: "awaiting_upload",
      uploadId: old,
      field,
      supersededBy: uploadId,
    }),
  );
  return { events: [...abandoned, { type: "upload.requested", to: "awaiting_upload", upload }], token: "rotate" };
}

/** Compared by path, because `a.b` can be written in several ways. */
function supersededBy({ uploads }: Submission, field: string, { intake }: DecideContext): Upload[] {
  if (maxFilesAt(field, intake) > 1) return [];
  const place = JSON.stringify(intake.pathOf(field));
  return uploads.filter(
    (upload) => upload.confirmed === undefined && JSON.stringify(intake.pathOf(upload.field)) === place,
  );
}

function refusalOf(submission: Submission, command: RequestUpload, context: DecideContext): ContractError | undefined {
  const problem = problemWith(command, context);
  if (problem !== undefined) return new ContractError("invalid", problem.field.message, invalid(problem));
  return (
    tooMany(submission, command.field, context) ??
    tooMuch(submission, command, context) ??
    unplaceable(submission, command, context)
  );
}

interface Problem {
  field: FieldError;
  actions: NextAction[];
}

const invalid = ({ field, actions }: Problem) => ({ fields: [field], nextActions: actions });

function problemWith(command: RequestUpload, context: DecideContext): Problem | undefined {
  const { field } = command;
  const { intake } = context;
  const path = intake.pathOf(field);
  const rule = intake.ruleAt(path);
  if (rule.file === undefined) {
    const message = `${field} is not a file field of this intake.`;
    return { field: { path: field, code: "invalid_value", message }, actions: fileFieldActions(intake) };
  }
  const list = path.slice(0, -1);
  // A confirm appends to the list, so a single item can't be replaced.
  if (intake.ruleAt(list).file !== undefined) {
    const message = `${field} is one file of a list: announce it for ${list.join(".")}.`;
    const actions = [announceAction(list.join("."), message, intake)];
    return { field: { path: field, code: "invalid_value", message }, actions };
  }
  if (!mayFill(rule, context)) {
    const problem = notYours(field, rule, context);
    const wait = { action: "fetch_current_state" as const, field, hint: problem.message };
    return { field: problem, actions: [rule.fill === "human" ? handOverFor(problem, intake) : wait] };
  }
  const wrong = wrongKind(command, rule.file);
  return wrong && { field: wrong, actions: [announceAction(field, wrong.message, intake)] };
}

function wrongKind(
  { field, mimeType, sizeBytes }: RequestUpload,
  { accept, maxBytes }: { accept: string[]; maxBytes: number },
): FieldError | undefined {
  if (!accept.some((pattern) => accepts(pattern, mimeType))) {
    const message = `${field} takes ${accept.join(", ")}.`;
    return { path: field, code: "file_wrong_type", message, expected: accept, received: mimeType };
  }
  if (sizeBytes > maxBytes) {
    const message = `${field} takes at most ${maxBytes} bytes.`;
    return { path: field, code: "file_too_large", message, expected: maxBytes, received: sizeBytes };
  }
  return undefined;
}

/** Limits the number of files in a list and in a submission. */
function tooMany(submission: Submission, field: string, { intake, now }: DecideContext): ContractError | undefined {
  const { uploads, fields } = submission;
  if (uploads.length >= MAX_UPLOADS) {
    return new ContractError("conflict", `A submission can have at most ${MAX_UPLOADS} uploads.`, {
      nextActions: [{ action: "fetch_current_state", hint: "Abandon pending uploads, or submit what is there." }],
    });
  }
  const most = maxFilesAt(field, intake);
  if (most <= 1) return undefined;
  const pending = pendingUploads(submission, now).filter((upload) => upload.field === field);
  const there = filesAt(fields, field, intake);
  if (there + pending.length < most) return undefined;
  const message = `${field} takes at most ${most} files: ${there} are there and ${pending.length} announced. Remove or abandon one first.`;
  return new ContractError("invalid", message, {
    fields: [{ path: field, code: "too_long", message, expected: most, received: there + pending.length + 1 }],
    nextActions: [
      ...pending.map((upload) => pendingAction(upload, intake)),
      { action: "collect_field", field, hint: `Set ${field} to the files to keep, as { uploadId }.` },
    ],
  });
}

const bytesOf = ({ uploads }: Submission): number =>
  uploads.reduce((sum, { sizeBytes, confirmed }) => sum + (confirmed?.sizeBytes ?? sizeBytes), 0);

function tooMuch(
  submission: Submission,
  { field, sizeBytes }: RequestUpload,
  { intake, now, policy }: DecideContext,
): ContractError | undefined {
  const left = policy.submissionUploadBytes - bytesOf(submission);
  if (sizeBytes <= left) return undefined;
  const most = policy.submissionUploadBytes;
  const message = `The files of a submission may add up to ${most} bytes; ${Math.max(0, left)} are left. Send a smaller file, or abandon one.`;
  return new ContractError("invalid", message, {
    fields: [{ path: field, code: "file_too_large", message, expected: Math.max(0, left), received: sizeBytes }],
    nextActions: [
      announceAction(field, message, intake),
      ...pendingUploads(submission, now).map((upload) => pendingAction(upload, intake)),
    ],
  });
}

/** Refuse now rather than after the file was sent: the place must exist, or be the next item of its list. */
function unplaceable(
  submission: Submission,
  command: RequestUpload,
  context: DecideContext,
): ContractError | undefined {
  const { intake, now } = context;
  const { field, filename, mimeType, sizeBytes } = command;
  const reference = { uploadId: "", filename, mimeType, sizeBytes, sha256: "" };
  try {
    const filled = fieldsOnceArrived(submission.fields, pendingUploads(submission, now), intake);
    placeFile(filled, { field, reference }, intake);
    return undefined;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return noPlace(field, error);
  }
}
