import { jwtVerify, SignJWT } from "jose";
import { ContractError } from "../domain/error.ts";
import type { Instant } from "../domain/instant.ts";
import { deriveKeys } from "./secrets.ts";

/** Where a list stands: its query, and the place after which the next page starts. */
export interface PagePosition {
  list: string;
  query: Record<string, string>;
  after: string;
}

export interface PageTokens {
  sign(position: PagePosition, now: Instant): Promise<string>;
  /** Throws a `bad_request` for what was changed, is over, or belongs to another list. */
  open(token: string, list: string, now: Instant): Promise<PagePosition>;
}

const refused = (why: string, cause?: unknown): ContractError =>
  new ContractError("bad_request", `pageToken: ${why}`, { cause });

/** Stateless: any instance can serve the next page, and page 50,000 costs what page 1 costs. */
export function createPageTokens(secrets: readonly string[], ttlMs: number): PageTokens {
  const keys = deriveKeys(secrets, "page-token");
  const [newest] = keys;
  return {
    async sign({ list, query, after }, now) {
      return await new SignJWT({ list, query, after })
        .setProtectedHeader({ alg: "HS256", kid: newest.id })
        .setExpirationTime(Math.floor((now + ttlMs) / 1000))
        .sign(newest.bytes);
    },
    async open(token, list, now) {
      try {
        const { payload } = await jwtVerify<PagePosition>(
          token,
          (header) => keys.find((key) => key.id === header.kid)?.bytes ?? newest.bytes,
          { algorithms: ["HS256"], currentDate: new Date(now) },
        );
        if (payload.list !== list) throw refused("it belongs to another list.");
        return { list, query: payload.query, after: payload.after };
      } catch (error) {
        if (error instanceof ContractError) throw error;
        throw refused("it was changed or has expired. Start again without it.", error);
      }
    },
  };
}
