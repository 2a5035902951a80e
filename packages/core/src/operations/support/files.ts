import { ContractError } from "../../domain/error.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import { isPast } from "../../domain/policy.ts";
import type { Submission, Upload } from "../../domain/submission.ts";
import { type FileName, StorageDown, UploadBusy, UploadMisfit, type UploadStorage } from "../../ports/uploads.ts";
import type { UploadGrant } from "../../vault/upload-grants.ts";
import type { Deps } from "../deps.ts";
import type { Context } from "./context.ts";
import { openRow } from "./open-snapshot.ts";

/** Files need a place to go: without one, an upload is neither promised nor recorded. */
export function requireStorage(storage: UploadStorage | undefined): UploadStorage {
  if (storage === undefined) {
    throw new ContractError("service_unavailable", "This server has no storage for files.", { retryable: false });
  }
  return storage;
}

export const fileOf = ({ tenant, submissionId }: Submission, uploadId: string): FileName => ({
  tenant,
  submissionId,
  uploadId,
});

const RETRY_AFTER_MS = 5000;

/** What a storage throws, in the contract's words. */
export async function inContract<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UploadBusy) {
      throw new ContractError("conflict", "The file is being sent already.", { retryable: true, retryAfterMs: 1000 });
    }
    if (error instanceof UploadMisfit) throw new ContractError("bad_request", error.message);
    if (error instanceof StorageDown) {
      const words = "The storage for files is not available.";
      throw new ContractError("service_unavailable", words, { retryAfterMs: RETRY_AFTER_MS, cause: error });
    }
    throw error;
  }
}

/** A URL of ours that is good for one thing. */
export async function signedUrl({ uploadGrants, publicUrl }: Deps, grant: UploadGrant): Promise<string> {
  const folder = { put: "", get: "", resume: "/resumable", parts: "/parts" }[grant.use];
  return `${publicUrl()}/uploads/${grant.uploadId}${folder}?grant=${await uploadGrants.sign(grant)}`;
}

/** What a request by a signed URL names. */
export interface GrantCall {
  uploadId: string;
  grant: string;
}

export interface Granted {
  grant: UploadGrant;
  submission: Submission;
  upload: Upload;
  now: Instant;
}

/** Opens a signed URL: 403 what we did not sign, 410 what is over, 404 what is not there any more. */
export async function openGrant({ deps }: Context, call: GrantCall, use: UploadGrant["use"]): Promise<Granted> {
  const grant = await deps.uploadGrants.open(call.grant, { uploadId: call.uploadId, use });
  const { tenant, submissionId, uploadId, expiresAt } = grant;
  const { now, submission: snapshot } = await deps.backend.store.load({ by: { id: submissionId, tenant } });
  if (isPast(expiresAt, now, deps.settings.policy)) {
    throw new ContractError("token_expired", "The URL's time is over.", {
      reason: "ttl_elapsed",
      expiredAt: toIso(expiresAt),
      expiredFor: now - expiresAt,
    });
  }
  const submission = snapshot && openRow(deps.sealer, snapshot);
  const upload = submission?.uploads.find((known) => known.uploadId === uploadId);
  if (submission === undefined || upload === undefined) throw noUpload();
  return { grant, submission, upload, now };
}

export const noUpload = (): ContractError => new ContractError("not_found", "There is no such upload.");
