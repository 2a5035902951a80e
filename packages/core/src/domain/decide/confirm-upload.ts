import type { FieldError, FileReference, Json, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { applyPatch } from "../fields/apply-patch.ts";
import { type Content, misfit, typeOf } from "../files/content-type.ts";
import type { Instant } from "../instant.ts";
import type { Submission, Upload } from "../submission.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";
import { pendingUploads } from "./validate.ts";

/** What was seen when the file was looked at. */
export interface Arrived {
  sizeBytes: number;
  sha256: string;
  content: Content;
  /** What a scan found in it, if anything. */
  infected?: string;
}

export interface ConfirmUpload {
  uploadId: string;
  arrived: Arrived | undefined;
}

export function decideConfirmUpload(submission: Submission, command: ConfirmUpload, context: DecideContext): Decision {
  const upload = submission.uploads.find((known) => known.uploadId === command.uploadId);
  if (upload === undefined) return refuse(new ContractError("not_found", "There is no such upload."));
  if (upload.confirmed !== undefined) return refuse(new ContractError("conflict", "The upload is already confirmed."));
  if (command.arrived === undefined) return refuse(notArrived(upload));
  const problem = mismatch(upload, command.arrived, context);
  if (problem !== undefined) return failed(submission, { upload, problem, now: context.now });
  return completed(submission, upload, command.arrived, context);
}

const notArrived = (upload: Upload): ContractError =>
  new ContractError("upload_pending", `The file for ${upload.field} has not arrived.`, {
    fields: [{ path: upload.field, code: "file_required", message: `The file for ${upload.field} has not arrived.` }],
    nextActions: [{ action: "request_upload", field: upload.field, hint: "Send the file to its URL, then confirm." }],
  });

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
    return { path, code: "custom", message: `The file for ${path} is not the one that was announced (SHA-256).` };
  }
  const accept = intake.ruleAt(intake.pathOf(path)).file?.accept ?? [];
  const wrong = misfit(arrived.content, { announced: upload.mimeType, accept });
  if (wrong !== undefined) {
    const message = `The file for ${path} ${wrong.why}.`;
    return { path, code: "file_wrong_type", message, expected: accept, received: wrong.type };
  }
  if (arrived.infected !== undefined) {
    return { path, code: "custom", message: `A scan refused the file for ${path}: ${arrived.infected}.` };
  }
  return undefined;
}

/** The mismatch is recorded, and the upload forgotten: the next try is a new upload. */
function failed(
  submission: Submission,
  { upload, problem, now }: { upload: Upload; problem: FieldError; now: Instant },
): Decision {
  const others = othersPending(submission, upload, now);
  return {
    events: [
      {
        type: "upload.failed",
        to: others ? "awaiting_upload" : "in_progress",
        uploadId: upload.uploadId,
        field: upload.field,
        reason: problem.message,
      },
    ],
    token: "keep",
    refusal: new ContractError("invalid", problem.message, {
      fields: [problem],
      nextActions: [{ action: "request_upload", field: upload.field, hint: "Announce and send the file again." }],
    }),
  };
}

function completed(submission: Submission, upload: Upload, arrived: Arrived, context: DecideContext): Decision {
  const { intake } = context;
  const path = intake.pathOf(upload.field);
  const reference: FileReference = {
    uploadId: upload.uploadId,
    filename: upload.filename,
    mimeType: typeOf(arrived.content, upload.mimeType, intake.ruleAt(path).file?.accept ?? []),
    sizeBytes: arrived.sizeBytes,
    sha256: arrived.sha256,
  };
  const many = (intake.ruleAt(path).file?.maxFiles ?? 1) > 1;
  const value = many ? [...listAt(submission.fields, path), asJson(reference)] : asJson(reference);
  const { fields } = applyPatch(submission.fields, { [upload.field]: value }, intake);
  const others = othersPending(submission, upload, context.now);
  return {
    events: [
      {
        type: "upload.completed",
        to: others ? "awaiting_upload" : "in_progress",
        uploadId: upload.uploadId,
        reference,
        fields,
        path,
        missingCount: intake.validate(fields).missing.length,
      },
    ],
    token: "rotate",
  };
}

const othersPending = (submission: Submission, upload: Upload, now: Instant): boolean =>
  pendingUploads(submission, now).some(({ uploadId }) => uploadId !== upload.uploadId);

const asJson = (reference: FileReference): Json => ({ ...reference });

function listAt(fields: JsonObject, path: readonly string[]): Json[] {
  let value: Json | undefined = fields;
  for (const segment of path) {
    value = typeof value === "object" && value !== null && !Array.isArray(value) ? value[segment] : undefined;
  }
  return Array.isArray(value) ? value : [];
}
