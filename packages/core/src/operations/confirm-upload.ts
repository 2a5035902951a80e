import type { ConfirmUploadResponse } from "@formbridge/contract";
import { type Arrived, decideConfirmUpload, mismatch } from "../domain/decide/confirm-upload.ts";
import type { DecideContext } from "../domain/decide/decision.ts";
import { ContractError } from "../domain/error.ts";
import { pendingAction } from "../domain/files/refusals.ts";
import type { Upload } from "../domain/submission.ts";
import { ScanFailed, type Scanner } from "../ports/scanner.ts";
import type { FileName, UploadStorage } from "../ports/uploads.ts";
import type { Context } from "./context.ts";
import { fileOf, inContract, requireStorage } from "./files/files.ts";
import { inspectFile } from "./files/inspect-file.ts";
import { fieldsOf, findingsOf, markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type ConfirmUploadCall = WriteCall & { uploadId: string };

export async function confirmUpload(
  context: Context,
  call: ConfirmUploadCall,
): Promise<OperationResponse<ConfirmUploadResponse>> {
  const { uploadId } = call;
  const { uploads, scanner } = context.deps;
  let arrived: Arrived | undefined;
  let refused: FileName | undefined;
  try {
    return await runWrite(context, call, {
      operation: "confirmUpload",
      actorRequired: true,
      async decide(submission, decideContext) {
        const upload = submission.uploads.find((known) => known.uploadId === uploadId && known.confirmed === undefined);
        const name = fileOf(submission, uploadId);
        // A sealed file can't change, so don't inspect it again after a lost race.
        if (upload !== undefined) {
          arrived ??= await lookAt({ storage: requireStorage(uploads), scanner, name }, upload, decideContext);
        }
        const decision = decideConfirmUpload(submission, { uploadId, arrived }, decideContext);
        refused = decision.events.some(({ type }) => type === "upload.failed") ? name : undefined;
        return decision;
      },
      body: (shown) => ({ ...markOf(shown), fields: fieldsOf(shown), ...findingsOf(shown) }),
    });
  } catch (error) {
    // The commit dropped the file. If removing it fails here, the job from its announcement does it.
    const isCommitted = error instanceof ContractError && error.type === "invalid";
    if (refused !== undefined && isCommitted) await uploads?.drop(refused).catch(() => {});
    throw error;
  }
}

interface Look {
  storage: UploadStorage;
  scanner: Scanner | undefined;
  name: FileName;
}

/** Seals the file, then reads all of it. */
async function lookAt(look: Look, upload: Upload, context: DecideContext): Promise<Arrived | undefined> {
  const { storage, scanner, name } = look;
  const sealed = await inContract(storage.seal(name));
  if (sealed === undefined) return undefined;
  const read = async () => await inContract(storage.read(name));
  const arrived: Arrived = await inspectFile(await read(), upload.mimeType);
  if (scanner === undefined || mismatch(upload, arrived, context) !== undefined) return arrived;
  try {
    const verdict = await scanner.scan({ bytes: await read(), sizeBytes: arrived.sizeBytes });
    return verdict.clean ? arrived : { ...arrived, infected: verdict.found };
  } catch (cause) {
    if (!(cause instanceof ScanFailed)) throw cause;
    const words = "The file could not be scanned; confirm it again later.";
    const nextActions = [pendingAction(upload, context.intake)];
    throw new ContractError("service_unavailable", words, { retryAfterMs: 5000, nextActions, cause });
  }
}
