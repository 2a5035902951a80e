import { jwtVerify, SignJWT } from "jose";
import { ContractError } from "../domain/error.ts";
import type { Instant } from "../domain/instant.ts";
import { deriveKeys } from "./secrets.ts";

/** What one signed URL is good for: this file, done this way, as large and of the type that was announced, until then. */
export interface UploadGrant {
  tenant: string;
  submissionId: string;
  uploadId: string;
  use: "put" | "resume" | "parts" | "get";
  sizeBytes: number;
  mimeType: string;
  expiresAt: Instant;
}

export interface UploadGrants {
  sign(grant: UploadGrant): Promise<string>;
  /** Throws a `forbidden` for what we did not sign, or signed for something else. Its time is for the caller to judge. */
  open(token: string, expected: Pick<UploadGrant, "uploadId" | "use">): Promise<UploadGrant>;
}

const refused = (cause?: unknown): ContractError =>
  new ContractError("forbidden", "The URL is not one that this server has signed for this.", { cause });

/** Stateless: any instance can check what another one has signed. */
export function createUploadGrants(secrets: readonly string[]): UploadGrants {
  const keys = deriveKeys(secrets, "upload-url");
  const [newest] = keys;
  return {
    async sign({ ...grant }) {
      return await new SignJWT(grant).setProtectedHeader({ alg: "HS256", kid: newest.id }).sign(newest.bytes);
    },
    async open(token, { uploadId, use }) {
      const key = (header: { kid?: string }) => keys.find(({ id }) => id === header.kid)?.bytes ?? newest.bytes;
      const { payload } = await jwtVerify<UploadGrant>(token, key, { algorithms: ["HS256"] }).catch(
        (error: unknown) => {
          throw refused(error);
        },
      );
      if (payload.uploadId !== uploadId || payload.use !== use) throw refused();
      return payload;
    },
  };
}
