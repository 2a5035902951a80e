import type { ConfirmUploadResponse } from "@formbridge/contract";
import { type Arrived, decideConfirmUpload, mismatch } from "../domain/decide/confirm-upload.ts";
import type { DecideContext } from "../domain/decide/decision.ts";
import { ContractError } from "../domain/error.ts";
import type { Upload } from "../domain/submission.ts";
import { ScanFailed, type Scanner } from "../ports/scanner.ts";
import type { FileName, UploadStorage } from "../ports/uploads.ts";
import { type Answer, findingsOf, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { fileOf, inContract, requireStorage } from "./support/files.ts";
import { inspectFile } from "./support/inspect-file.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export type ConfirmUploadCall = WriteCall & { uploadId: string };

export async function confirmUpload(context: Context, call: ConfirmUploadCall): Promise<Answer<ConfirmUploadResponse>> {
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
        // What was sealed can't change: a lost race looks at nothing twice.
        if (upload !== undefined) {
          arrived ??= await lookAt({ storage: requireStorage(uploads), scanner, name }, upload, decideContext);
        }
        const decision = decideConfirmUpload(submission, { uploadId, arrived }, decideContext);
        refused = decision.events.some(({ type }) => type === "upload.failed") ? name : undefined;
        return decision;
      },
      body: (shown) => ({ ...markOf(shown), fields: shown.submission.fields, ...findingsOf(shown) }),
    });
  } catch (error) {
    // Its commit let go of the file; should this fail, the job that the announcement left takes it away.
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

/** Puts the file out of reach, then reads it from end to end. */
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
    throw new ContractError("service_unavailable", words, { retryAfterMs: 5000, cause });
  }
}
