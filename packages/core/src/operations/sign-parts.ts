import type { SignPartsRequest, SignPartsResponse } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import type { Context } from "./context.ts";
import { type GrantCall, inContract, requireStorage } from "./files/files.ts";
import type { OperationResponse } from "./read/response.ts";
import { type Incoming, openIncoming } from "./receive-upload.ts";

export type SignPartsCall = GrantCall & { request: SignPartsRequest };

/** For files that are uploaded directly to the storage: URLs for the parts, and in the end joining them. */
export async function signParts(context: Context, call: SignPartsCall): Promise<OperationResponse<SignPartsResponse>> {
  const incoming = await openIncoming(context, call, "parts");
  return await partsOf(context, call, incoming).catch((error: unknown) => {
    throw incoming.explain(error);
  });
}

async function partsOf(
  context: Context,
  call: SignPartsCall,
  { file, grant }: Incoming,
): Promise<OperationResponse<SignPartsResponse>> {
  const { way } = requireStorage(context.deps.uploads);
  if (way.kind !== "direct")
    throw new ContractError(
      "not_found",
      "This server doesn't use multipart uploads. Use the URL that requestUpload returned.",
    );
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
