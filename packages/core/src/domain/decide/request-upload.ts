import type { FieldError } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { mayFill, notYours } from "../fields/fills.ts";
import { accepts } from "../files/content-type.ts";
import { displayName } from "../files/display-name.ts";
import type { Submission, Upload } from "../submission.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface RequestUpload {
  field: string;
  filename: string;
  mimeType: string;
  sizeBytes: number;
  sha256?: string;
}

/** Confirmed ones count too: they are part of the record. */
const MAX_UPLOADS = 500;

export function decideRequestUpload(submission: Submission, command: RequestUpload, context: DecideContext): Decision {
  const problem = problemWith(command, context);
  if (problem !== undefined) return refuse(new ContractError("invalid", problem.message, { fields: [problem] }));
  if (submission.uploads.length >= MAX_UPLOADS) {
    return refuse(new ContractError("conflict", `A submission takes at most ${MAX_UPLOADS} uploads.`));
  }
  const upload: Upload = {
    uploadId: context.newId("upl"),
    ...command,
    filename: displayName(command.filename),
    requestedAt: context.now,
    expiresAt: context.now + context.policy.uploadTtlMs,
  };
  return { events: [{ type: "upload.requested", to: "awaiting_upload", upload }], token: "rotate" };
}

function problemWith(command: RequestUpload, context: DecideContext): FieldError | undefined {
  const { field } = command;
  const path = context.intake.pathOf(field);
  const rule = context.intake.ruleAt(path);
  if (rule.file === undefined) {
    return { path: field, code: "invalid_value", message: `${field} is not a file field of this intake.` };
  }
  const list = path.slice(0, -1);
  // A confirm adds to the list: what it would put in the place of one item is a list, too.
  if (context.intake.ruleAt(list).file !== undefined) {
    const message = `${field} is one file of a list: announce it for ${list.join(".")}.`;
    return { path: field, code: "invalid_value", message };
  }
  if (!mayFill(rule, context)) return notYours(field, rule);
  const { accept, maxBytes } = rule.file;
  if (!accept.some((pattern) => accepts(pattern, command.mimeType))) {
    return {
      path: field,
      code: "file_wrong_type",
      message: `${field} takes ${accept.join(", ")}.`,
      expected: accept,
      received: command.mimeType,
    };
  }
  if (command.sizeBytes > maxBytes) {
    return {
      path: field,
      code: "file_too_large",
      message: `${field} takes at most ${maxBytes} bytes.`,
      expected: maxBytes,
      received: command.sizeBytes,
    };
  }
  return undefined;
}
