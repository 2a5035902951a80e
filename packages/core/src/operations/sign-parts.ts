import type { SignPartsRequest, SignPartsResponse } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { openIncoming } from "./receive-upload.ts";
import type { Answer } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { type GrantCall, inContract, requireStorage } from "./support/files.ts";

export type SignPartsCall = GrantCall & { request: SignPartsRequest };

/** For files that go straight to the storage: URLs of their parts, and in the end the whole of them. */
export async function signParts(context: Context, call: SignPartsCall): Promise<Answer<SignPartsResponse>> {
  const { file, grant } = await openIncoming(context, call, "parts");
  const { way } = requireStorage(context.deps.uploads);
  if (way.kind !== "direct") throw new ContractError("not_found", "Files do not go straight to a storage here.");
  const { multipartId, etags } = call.request;
  const { submissionId, uploadId } = file.name;
  const about = { ok: true as const, submissionId, uploadId };
  if (etags !== undefined) {
    if (multipartId === undefined) throw new ContractError("bad_request", "etags needs multipartId.");
    await inContract(way.joinParts(file, multipartId, etags));
    return { body: { ...about, complete: true } };
  }
  const now = await context.deps.backend.deadlines.now();
  const ttlMs = Math.max(1000, grant.expiresAt - now);
  const signed = await inContract(way.signParts(file, { ttlMs, ...(multipartId !== undefined && { multipartId }) }));
  return { body: { ...about, complete: false, ...signed } };
}
