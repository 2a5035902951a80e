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
}

export type SendPost = (post: Post, signal: AbortSignal) => Promise<Answer>;

/** Nobody needs what a receiver says beside its status; what it says is read so far, to see that it is not stuck. */
const MAX_ANSWER_BYTES = 4_096;

/**
 * One request to the given addresses only. Certificates are checked against the URL's name. No redirect is followed: undici
 * has no such feature unless it is added.
 */
export const createPost =
  (connections: Connections): SendPost =>
  ({ url, addresses, headers, body }, signal) =>
    connections.use({ origin: url.origin, addresses }, async (pool) => {
      const path = `${url.pathname}${url.search}`;
      const answer = await pool.request({ method: "POST", path, headers, body, signal });
      let read = 0;
      for await (const part of answer.body) {
        read += (part as Buffer).length;
        if (read > MAX_ANSWER_BYTES) break;
      }
      const retryAfter = answer.headers["retry-after"];
      return { status: answer.statusCode, ...(typeof retryAfter === "string" && { retryAfter }) };
    });
