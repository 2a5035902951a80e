import type { Address } from "../guard/create-guard.ts";
import type { Connections } from "./connections.ts";

export interface Post {
  url: URL;
  addresses: readonly Address[];
  headers: Record<string, string>;
  body: string;
}

export interface Answer {
  status: number;
  retryAfter?: string;
  /** The beginning of the response body. */
  text?: string;
}

export type SendPost = (post: Post, signal: AbortSignal) => Promise<Answer>;

/** Enough for an operator to see what went wrong; the rest isn't read. */
const MAX_ANSWER_BYTES = 4_096;

/**
 * One request to the given addresses only. Certificates are checked against the URL's host. Redirects aren't followed:
 * undici doesn't unless told to.
 */
export const createPost =
  (connections: Connections): SendPost =>
  ({ url, addresses, headers, body }, signal) =>
    connections.use({ origin: url.origin, addresses }, async (pool) => {
      const path = `${url.pathname}${url.search}`;
      const answer = await pool.request({ method: "POST", path, headers, body, signal });
      const parts: Buffer[] = [];
      let read = 0;
      for await (const part of answer.body) {
        parts.push(part as Buffer);
        read += (part as Buffer).length;
        if (read > MAX_ANSWER_BYTES) break;
      }
      const text = Buffer.concat(parts).subarray(0, MAX_ANSWER_BYTES).toString("utf8");
      const retryAfter = answer.headers["retry-after"];
      return { status: answer.statusCode, text, ...(typeof retryAfter === "string" && { retryAfter }) };
    });
