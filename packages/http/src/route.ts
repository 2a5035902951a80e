import type { ErrorType } from "@formbridge/contract";
import type { Caller, KnownState, OperationResponse, Operations, Target } from "@formbridge/core";
import type { TSchema } from "typebox";
import type { PageName } from "./pages.ts";

/** A parsed request: it matches its schemas; no rule was checked yet. */
export interface Parsed {
  caller: Caller;
  params: Record<string, string>;
  /** The body, checked by the route's schema; `{}` when there was none. */
  body: Record<string, unknown>;
  query: Record<string, unknown>;
  /** The submission named by path, headers and body. */
  target: Target;
  /** From the header or the body. */
  idempotencyKey?: string;
  idempotencyTtlMs?: number;
  /** How long the caller prefers to wait. */
  waitMs?: number;
  /** The tags the client has; `*`: any. */
  ifNoneMatch?: "*" | readonly KnownState[];
}

export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** Unique: the operation's name, with a suffix if it has several paths. */
  id: string;
  summary: string;
  body?: TSchema;
  /** The operation validates the body and reports every problem; the schema is only for OpenAPI. */
  checksItself?: true;
  query?: TSchema;
  /** A link that people open: unknown query parameters (such as tracking parameters) are ignored. */
  isLink?: true;
  response: TSchema;
  /** The page that a browser gets. */
  page?: PageName;
  /** A list of submissions, which may be requested as CSV. */
  asCsv?: true;
  /** May respond with 201. */
  creates?: true;
  /** Accepts an idempotency key, so it may wait for another call with the same key. */
  keyed?: true;
  /** The response may set the session cookie. */
  setsCookie?: true;
  /** The required credential. */
  opensWith:
    | "key"
    | "token"
    | "session"
    | "token or session"
    | "token or key"
    | "token, session or key"
    | "key unless public"
    | "link";
  errors: readonly ErrorType[];
  call(operations: Operations, request: Parsed): Promise<OperationResponse<unknown>>;
}

/** The format of `:token`; anything else in its place is a different path. */
export const TOKEN_SHAPE = "rtok_[^/]+";
