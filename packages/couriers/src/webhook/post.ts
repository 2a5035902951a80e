import { type Address, pinnedLookup } from "../guard/create-guard.ts";

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
 * One request on a connection of its own, to the given addresses only. Certificates are checked against the URL's name.
 * No redirect is followed: undici's client has no such feature unless it is added.
 */
export const post: SendPost = async ({ url, addresses, headers, body }, signal) => {
  // Loaded with the first delivery: a server without webhooks starts sooner.
  const { Client } = await import("undici");
  const client = new Client(url.origin, {
    // Its own signal, too: a client that is destroyed while it connects lets the socket go on.
    connect: { lookup: pinnedLookup(addresses), signal },
    allowH2: false,
    pipelining: 0,
    // The signal ends all of it; these would end parts of it sooner.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const path = `${url.pathname}${url.search}`;
    const answer = await client.request({ method: "POST", path, headers, body, signal });
    let read = 0;
    for await (const part of answer.body) {
      read += (part as Buffer).length;
      if (read > MAX_ANSWER_BYTES) break;
    }
    const retryAfter = answer.headers["retry-after"];
    return { status: answer.statusCode, ...(typeof retryAfter === "string" && { retryAfter }) };
  } finally {
    await client.destroy();
  }
};
