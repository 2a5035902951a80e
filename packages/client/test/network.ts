import { type ClientOptions, createClient, type FormBridgeClient } from "@formbridge/client";
import type { TestServer } from "../../../test/support/harness.ts";

/** What happens to a request: it arrives, is lost on the way there or back, or gets a response from the test. */
export type Fate = "pass" | "lose_request" | "lose_answer" | (() => Response | Promise<Response>);

export interface Sent {
  method: string;
  url: string;
  headers: Headers;
  body: unknown;
}

/** A real server behind a network that fails as the test says. */
export interface Network {
  sent: Sent[];
  /** How long the client wanted to wait between tries. */
  waits: number[];
  /** The outcomes of the next requests; all later ones arrive. */
  plan(...fates: Fate[]): void;
  /** Decides by the request instead. */
  decide: ((sent: Sent) => Fate) | undefined;
  client(options?: Partial<ClientOptions>): FormBridgeClient;
}

export function networkTo(server: Pick<TestServer, "url">): Network {
  let fates: Fate[] = [];
  const network: Network = {
    sent: [],
    waits: [],
    plan: (...next) => {
      fates = next;
    },
    decide: undefined,
    client: (options = {}) =>
      createClient({
        url: server.url,
        actor: { kind: "agent", id: "bot" },
        fetch: fetchThrough,
        random: () => 1,
        sleep: async (ms, signal) => {
          network.waits.push(ms);
          signal?.throwIfAborted();
        },
        ...options,
      }),
  };
  const fetchThrough: typeof fetch = async (input, init = {}) => {
    const body = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    const sent = { method: init.method ?? "GET", url: String(input), headers: new Headers(init.headers), body };
    network.sent.push(sent);
    const fate = network.decide?.(sent) ?? fates.shift() ?? "pass";
    if (typeof fate === "function") return await fate();
    if (fate === "lose_request") throw new TypeError("fetch failed");
    const response = await fetch(input, init);
    if (fate === "pass") return response;
    await response.arrayBuffer();
    throw new TypeError("fetch failed");
  };
  return network;
}

export const refusal = (status: number, error: { type: string; retryable: boolean; retryAfterMs?: number }) => () =>
  new Response(JSON.stringify({ ok: false, error: { message: error.type, ...error } }), { status });
