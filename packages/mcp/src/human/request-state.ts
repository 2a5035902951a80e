import { type Caller, canonicalJson, sha256 } from "@formbridge/core";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** Authenticated encryption of text, bound to one context. */
export interface Seal {
  seal(plain: string, bound: string): string;
  open(sealed: string, bound: string): string;
}

/** What a state is bound to: the caller and the call. */
interface Bound {
  caller: Caller;
  request: { name: string; args: unknown };
}

/** State that passes through the client between two rounds of a call. */
export interface RequestStates {
  seal(keep: Record<string, unknown>, bound: Bound): string;
  /** Throws a protocol error if it was altered, is too old, or belongs to another caller or call. */
  open(sealed: string, bound: Bound): Record<string, unknown>;
}

const MAX_LENGTH = 32_768;

export function createRequestStates(seal: Seal, { now, lifeMs }: { now: () => number; lifeMs: number }): RequestStates {
  return {
    seal: (keep, bound) => seal.seal(JSON.stringify({ at: now(), keep }), placeOf(bound)),
    open(sealed, bound) {
      try {
        if (typeof sealed !== "string" || sealed.length > MAX_LENGTH) throw refused();
        const { at, keep } = JSON.parse(seal.open(sealed, placeOf(bound))) as {
          at: number;
          keep: Record<string, unknown>;
        };
        if (now() - at > lifeMs) throw refused();
        return keep;
      } catch {
        throw refused();
      }
    },
  };
}

/** The same error for every reason. */
const refused = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
    reason: "invalid_request_state",
  });

const placeOf = ({ caller, request: { name, args } }: Bound): string => {
  const who = [caller.apiKey ?? "", caller.session ?? ""];
  return `mcp:${sha256(canonicalJson({ who, name, args: args ?? {} }))}`;
};
