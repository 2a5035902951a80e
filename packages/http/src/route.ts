import type { ErrorType } from "@formbridge/contract";
import type { Answer, Caller, Operations, Target } from "@formbridge/core";
import type { TSchema } from "typebox";

/** A request after parsing: checked against its schemas, not yet against any rule. */
export interface Parsed {
  caller: Caller;
  params: Record<string, string>;
  /** The body, checked by the route's schema; `{}` when there was none. */
  body: Record<string, unknown>;
  query: Record<string, unknown>;
  /** The submission that path, headers and body name. */
  target: Target;
  /** The header's key, or the body's. */
  idempotencyKey?: string;
  idempotencyTtlMs?: number;
  /** How long the caller prefers to wait. */
  waitMs?: number;
  ifNoneMatch?: string;
}

export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** Unique; the operation's name, and where it has several paths, which one. */
  id: string;
  summary: string;
  body?: TSchema;
  /** The operation checks the body itself, and names every problem; the schema is for readers. */
  checksItself?: true;
  query?: TSchema;
  response: TSchema;
  /** Also answers 201. */
  creates?: true;
  /** The answer may hand the browser a session. */
  setsCookie?: true;
  /** What a caller must show. */
  opensWith: "key" | "token" | "token or key" | "token, session or key" | "key unless public" | "link";
  errors: readonly ErrorType[];
  call(operations: Operations, request: Parsed): Promise<Answer<unknown>>;
}

/** How `:token` looks: any other word at its place is another path. */
export const TOKEN_SHAPE = "rtok_[^/]+";
