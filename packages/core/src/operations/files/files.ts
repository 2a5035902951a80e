import type { NextAction } from "@formbridge/contract";
import { ContractError, withNextActions } from "../../domain/error.ts";
import { announceAction, pendingAction, unknownUpload } from "../../domain/files/refusals.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { isPast } from "../../domain/policy.ts";
import type { Submission, Upload } from "../../domain/submission.ts";
import { aboutOf } from "../../domain/tokens/refuse-ended.ts";
import {
  type FileName,
  StorageDown,
  StorageFull,
  UploadBusy,
  UploadMisfit,
  type UploadStorage,
} from "../../ports/uploads.ts";
import type { UploadGrant } from "../../vault/upload-grants.ts";
import type { Context } from "../context.ts";
import type { Deps } from "../deps.ts";
import { loadSubmission } from "../read/load-submission.ts";
import { explained } from "../write/refusals.ts";

/** Without a storage, an upload is neither promised nor recorded. */
export function requireStorage(storage: UploadStorage | undefined): UploadStorage {
  if (storage === undefined) {
    throw new ContractError("service_unavailable", "This server can't store files.", {
      retryable: false,
      nextActions: [
        {
          action: "fetch_current_state",
          hint: "Continue without the file, or ask the operator to set up file storage.",
        },
      ],
    });
  }
  return storage;
}

export const fileOf = ({ tenant, submissionId }: Submission, uploadId: string): FileName => ({
  tenant,
  submissionId,
  uploadId,
});

const RETRY_AFTER_MS = 5000;

/** Turns a storage's errors into contract errors. */
export async function inContract<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UploadBusy) {
      throw new ContractError("conflict", "The file is already being sent. Wait for that request to end.", {
        retryable: true,
        retryAfterMs: 1000,
      });
    }
    if (error instanceof UploadMisfit) throw new ContractError("bad_request", error.message);
    if (error instanceof StorageFull) throw storageFull();
    if (error instanceof StorageDown) {
      const words = "The storage for files is not available.";
      throw new ContractError("service_unavailable", words, { retryAfterMs: RETRY_AFTER_MS, cause: error });
    }
    throw error;
  }
}

const FULL_RETRY_MS = 60_000;

/** The disk keeps a reserve for the database: otherwise files could stop everything else. */
export function storageFull(actions: NextAction[] = []): ContractError {
  const words = "There is no room for the file. Nothing was taken; try again later.";
  const again: NextAction = { action: "request_upload", hint: words };
  return new ContractError("service_unavailable", words, {
    reason: "storage_full",
    retryAfterMs: FULL_RETRY_MS,
    nextActions: actions.length > 0 ? actions : [again],
  });
}

/** A signed URL of ours for a single purpose. */
export async function signedUrl({ uploadGrants, publicUrl }: Deps, grant: UploadGrant): Promise<string> {
  const folder = { put: "", get: "", resume: "/resumable", parts: "/parts" }[grant.use];
  return `${publicUrl()}/uploads/${grant.uploadId}${folder}?grant=${await uploadGrants.sign(grant)}`;
}

/** A request with a signed URL. */
export interface GrantCall {
  uploadId: string;
  grant: string;
}

export interface Granted {
  grant: UploadGrant;
  submission: Submission;
  intake: CompiledIntake;
  upload: Upload;
  now: Instant;
  /** Adds the submission's state and what to do about the file to a refusal; other errors are returned unchanged. */
  explain(error: unknown): unknown;
}

/**
 * Checks a signed URL: 403 if we didn't sign it, 410 if it has expired, 409 if it was superseded, 404 if it is gone.
 */
export async function openGrant(context: Context, call: GrantCall, use: UploadGrant["use"]): Promise<Granted> {
  const { deps } = context;
  const grant = await deps.uploadGrants.open(call.grant, { uploadId: call.uploadId, use });
  const { tenant, submissionId, uploadId, expiresAt } = grant;
  const found = await loadSubmission(context, { tenant, submissionId });
  if (found === undefined) throw new ContractError("not_found", "This upload doesn't exist.");
  const { submission, intake, now } = found;
  const upload = submission.uploads.find((known) => known.uploadId === uploadId);
  if (isPast(expiresAt, now, deps.settings.policy)) throw lapsedUrl({ grant, now, submission, intake, upload });
  if (upload === undefined) throw unknownUpload(submission, uploadId, { intake, now });
  const explain = (error: unknown): unknown => {
    const advised = error instanceof ContractError && withNextActions(error, fileActions(use, upload, intake));
    return advised === false ? error : explained(deps, { submission, intake, learns: "all" }, advised);
  };
  return { grant, submission, intake, upload, now, explain };
}

const fileActions = (use: UploadGrant["use"], upload: Upload, intake: CompiledIntake): NextAction[] =>
  use === "get"
    ? [{ action: "fetch_current_state", hint: "Wait, then ask for the file again." }]
    : [pendingAction(upload, intake)];

interface Lapsed extends Omit<Granted, "upload" | "explain"> {
  upload: Upload | undefined;
}

function lapsedUrl({ grant: { use, expiresAt }, now, submission, intake, upload }: Lapsed): ContractError {
  const hint = use === "get" ? "Ask for the file again to get a new URL." : "Announce the file again to get a new URL.";
  const action: NextAction =
    use === "get" || upload === undefined
      ? { action: "fetch_current_state", hint }
      : announceAction(upload.field, hint, intake);
  return new ContractError("token_expired", `The URL has expired. ${hint}`, {
    about: aboutOf(submission),
    reason: "ttl_elapsed",
    expiredAt: toIso(expiresAt),
    expiredFor: now - expiresAt,
    nextActions: [action],
  });
}
