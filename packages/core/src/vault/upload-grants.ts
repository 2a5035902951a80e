import { SignJWT } from "jose";
import { ContractError } from "../domain/error.ts";
import type { Instant } from "../domain/instant.ts";
import { verifyCompactJwt } from "./compact-jwt.ts";
import { deriveKeys } from "./secrets.ts";

/** What a signed URL allows: one use of one file, with the announced size and type, until it expires. */
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
  /** Throws `forbidden` if we didn't sign it, or signed it for another use. Doesn't check `expiresAt`. */
  open(token: string, expected: Pick<UploadGrant, "uploadId" | "use">): Promise<UploadGrant>;
}

const refused = (use: UploadGrant["use"], cause?: unknown): ContractError =>
  new ContractError("forbidden", "The URL wasn't signed by this server for this purpose.", {
    nextActions: [
      use === "get"
        ? { action: "fetch_current_state", hint: "Use the URL unchanged, or request the file again." }
        : { action: "request_upload", hint: "Use the URL unchanged, or announce the file again." },
    ],
    cause,
  });

/** Stateless: any instance can check what another one has signed. */
export function createUploadGrants(secrets: readonly string[]): UploadGrants {
  const keys = deriveKeys(secrets, "upload-url");
  const [newest] = keys;
  return {
    async sign({ ...grant }) {
      return await new SignJWT(grant).setProtectedHeader({ alg: "HS256", kid: newest.id }).sign(newest.bytes);
    },
    async open(token, { uploadId, use }) {
      const { payload } = await verifyCompactJwt<UploadGrant>(token, keys).catch((error: unknown) => {
        throw refused(use, error);
      });
      if (payload.uploadId !== uploadId || payload.use !== use) throw refused(use);
      return payload;
    },
  };
}
