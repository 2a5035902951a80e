import { type CallFacts, type MeasuredKey, shortHash } from "@formbridge/core";

const MAX_TEXT = 256;

/** Control characters in what a caller sent could move a terminal's cursor or begin a new line. */
export const plainText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, " ")
    .slice(0, MAX_TEXT)
    .toWellFormed();

export const keyFields = ({ intakeId, operation, hash }: MeasuredKey) => ({
  intakeId,
  operation,
  idempotencyKey: shortHash(hash),
});

const rounded = (ms: number): number => Math.round(ms * 100) / 100;

export interface AnsweredRequest {
  method: string;
  /** The pattern, never the path, which may contain a token. */
  route: string;
  status: number;
  ms: number;
  requestId: string;
  address: string;
  userAgent?: string;
  facts: CallFacts;
}

/** What a line says of a request. */
export function requestFields(request: AnsweredRequest) {
  const { method, route, status, ms, requestId, address, userAgent, facts } = request;
  const { tokenHash, submissionId, intakeId, operation, version, outcome, traceId, actor, failure, cause } = facts;
  return {
    component: facts.presented === true ? "resume-tokens" : "http",
    event: eventOf(facts),
    method,
    route,
    status,
    ...(operation !== undefined && { operation }),
    ...(intakeId !== undefined && { intakeId }),
    ...(submissionId !== undefined && { submissionId }),
    ...(version !== undefined && { version }),
    ...(tokenHash !== undefined && { tokenHash: shortHash(tokenHash) }),
    actor: {
      ...(actor !== undefined && { kind: actor.kind }),
      ipAddress: address,
      ...(userAgent !== undefined && { userAgent: plainText(userAgent) }),
    },
    durationMs: rounded(ms),
    outcome: outcome === undefined || outcome === "ok" ? (status < 400 ? "success" : "refused") : outcome,
    ...(failure !== undefined && { reason: failure }),
    ...(cause !== undefined && { cause: plainText(cause) }),
    requestId,
    ...(traceId !== undefined && { traceId }),
  };
}

function eventOf({ presented, outcome }: CallFacts): string {
  if (presented !== true) return "request";
  return outcome === "token_conflict" ? "token.conflict" : "token.accessed";
}
