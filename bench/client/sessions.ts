import type { Load } from "../protocol.ts";
import { byTool } from "./mcp-requests.ts";
import { overHttp, type Requests, tokenIn } from "./requests.ts";

/** What one connection does: its next request, and what it does with the response. */
export interface Session {
  next(): string;
  answered(body: string): void;
}

/** The sessions of all connections; `tokens` collects the current ones at the end. */
export function createSessions(load: Load, connections: number): { sessions: Session[]; tokens: string[] } {
  const tokens = "tokens" in load ? [...load.tokens] : [];
  const requests = load.mcp ? byTool : overHttp;
  const one = (index: number): Session => {
    if (load.kind === "create") return createSession(requests, load.apiKey, tokens);
    if (load.kind === "mixed") return mixedSession(requests, load.apiKey);
    const own = tokens.flatMap((_, at) => (at % connections === index ? [at] : []));
    return load.kind === "read" ? readSession(requests, tokens, own) : writeSession(requests, tokens, own);
  };
  return { sessions: Array.from({ length: connections }, (_, index) => one(index)), tokens };
}

/** Enough to continue with; a long run must not fill the client's memory. */
const MAX_KEPT = 5_000;

function createSession(requests: Requests, apiKey: string, tokens: string[]): Session {
  let turn = 0;
  return {
    next: () => requests.create(apiKey, turn++),
    answered: (body) => {
      const token = tokenIn(body);
      if (tokens.length < MAX_KEPT) tokens.push(token);
    },
  };
}

function writeSession(requests: Requests, tokens: string[], own: number[]): Session {
  let turn = 0;
  let at = 0;
  return {
    next: () => {
      at = own[turn % own.length] ?? 0;
      turn += 1;
      return requests.setFields(tokens[at] ?? "", turn);
    },
    answered: (body) => {
      tokens[at] = tokenIn(body);
    },
  };
}

function readSession(requests: Requests, tokens: readonly string[], own: number[]): Session {
  let turn = 0;
  return {
    next: () => requests.read(tokens[own[turn++ % own.length] ?? 0] ?? ""),
    answered: () => {},
  };
}

const MIXED = ["create", "set", "read", "set", "read", "set", "set", "read", "set", "set"] as const;

function mixedSession(requests: Requests, apiKey: string): Session {
  let turn = 0;
  let token = "";
  return {
    next: () => {
      const step = MIXED[turn % MIXED.length];
      turn += 1;
      if (step === "create") return requests.create(apiKey, turn);
      return step === "read" ? requests.read(token) : requests.setFields(token, turn);
    },
    answered: (body) => {
      token = tokenIn(body);
    },
  };
}
