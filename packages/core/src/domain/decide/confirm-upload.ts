import type { FieldError, FileReference, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { type Content, misfit, typeOf } from "../files/content-type.ts";
import { stateWithout } from "../files/pending.ts";
import { filesAt, maxFilesAt, placeFile } from "../files/placement.ts";
import {
  alreadyConfirmed,
  announceAction,
  noPlace,
  pendingAction,
  pendingProblem,
  unknownUpload,
} from "../files/refusals.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Submission, Upload } from "../submission.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

/** What the inspection of the file found. */
export interface Arrived {
  sizeBytes: number;
  sha256: string;
  content: Content;
  /** What a scan found, if anything. */
  infected?: string;
}

export interface ConfirmUpload {
  uploadId: string;
  arrived: Arrived | undefined;
}

export function decideConfirmUpload(submission: Submission, command: ConfirmUpload, context: DecideContext): Decision {
  const { intake } = context;
  const upload = submission.uploads.find((known) => known.uploadId === command.uploadId);
  if (upload === undefined) return refuse(unknownUpload(submission, command.uploadId, context));
  if (upload.confirmed !== undefined) return refuse(alreadyConfirmed(submission, upload, intake));
  const full = fullList(submission, upload.field, intake);
  if (full !== undefined) return refuse(full);
  if (command.arrived === undefined) return refuse(notArrived(upload, intake));
  const problem = mismatch(upload, command.arrived, context);
  if (problem !== undefined) return failed(submission, { upload, problem, context });
  return completed(submission, upload, command.arrived, context);
}

function notArrived(upload: Upload, intake: CompiledIntake): ContractError {
  const problem = pendingProblem(upload);
  return new ContractError("upload_pending", problem.message, {
    fields: [problem],
    nextActions: [pendingAction(upload, intake)],
  });
}

/** The list may have been filled since the file was announced. */
function fullList({ fields }: Submission, field: string, intake: CompiledIntake): ContractError | undefined {
  const most = maxFilesAt(field, intake);
  if (most <= 1 || filesAt(fields, field, intake) < most) return undefined;
  const message = `${field} takes at most ${most} files and has ${most}. Remove one, then confirm this upload, or abandon it.`;
  return new ContractError("invalid", message, {
    fields: [{ path: field, code: "too_long", message, expected: most }],
    nextActions: [{ action: "collect_field", field, hint: message }],
  });
}

export function mismatch(upload: Upload, arrived: Arrived, { intake }: DecideContext): FieldError | undefined {
  const path = upload.field;
  if (arrived.sizeBytes !== upload.sizeBytes) {
    return {
      path,
      code: arrived.sizeBytes > upload.sizeBytes ? "file_too_large" : "custom",
      message: `The file for ${path} has ${arrived.sizeBytes} bytes; ${upload.sizeBytes} were announced.`,
      expected: upload.sizeBytes,
      received: arrived.sizeBytes,
    };
  }
  if (upload.sha256 !== undefined && upload.sha256 !== arrived.sha256) {
    return { path, code: "custom", message: `The file for ${path} doesn't match the announced SHA-256.` };
  }
  const accept = intake.ruleAt(intake.pathOf(path)).file?.accept ?? [];
  const wrong = misfit(arrived.content, { announced: upload.mimeType, accept });
  if (wrong !== undefined) {
    const message = `The file for ${path} ${wrong.why}.`;
    return { path, code: "file_wrong_type", message, expected: accept, received: wrong.type };
  }
  if (arrived.infected !== undefined) {
    return { path, code: "custom", message: `The scan found something in the file for ${path}: ${arrived.infected}.` };
  }
  return undefined;
}

/** Records the mismatch and forgets the upload: the next try is a new upload. */
function failed(
  submission: Submission,
  { upload, problem, context }: { upload: Upload; problem: FieldError; context: DecideContext },
): Decision {
  const { uploadId, field } = upload;
  const to = stateWithout(submission, upload, context.now);
  return {
    events: [{ type: "upload.failed", to, uploadId, field, reason: problem.message }],
    token: "keep",
    refusal: new ContractError("invalid", problem.message, {
      fields: [problem],
      nextActions: [announceAction(field, "Announce and send the file again.", context.intake)],
    }),
  };
}

function completed(submission: Submission, upload: Upload, arrived: Arrived, context: DecideContext): Decision {
  const { intake } = context;
  const { uploadId, field } = upload;
  const path = intake.pathOf(field);
  const reference: FileReference = {
    uploadId,
    filename: upload.filename,
    mimeType: typeOf(arrived.content, upload.mimeType, intake.ruleAt(path).file?.accept ?? []),
    sizeBytes: arrived.sizeBytes,
    sha256: arrived.sha256,
  };
  const fields = placed(submission, reference, upload, intake);
  if (fields instanceof ContractError) return refuse(fields);
  const to = stateWithout(submission, upload, context.now);
  const missingCount = intake.validate(fields).missing.length;
  return {
    events: [{ type: "upload.completed", to, uploadId, reference, fields, path, missingCount }],
    token: "rotate",
  };
}

/** The place that a file was announced for may no longer exist. */
function placed(
  { fields, uploads }: Submission,
  reference: FileReference,
  upload: Upload,
  intake: CompiledIntake,
): JsonObject | ContractError {
  const { field } = upload;
  const later = uploads.slice(uploads.indexOf(upload) + 1);
  try {
    return placeFile(fields, { field, reference, later }, intake);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return noPlace(field, error);
  }
}
