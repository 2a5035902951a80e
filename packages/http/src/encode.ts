import { type ContractError, errorBody, type OperationResponse, toIso } from "@formbridge/core";
import type { FastifyReply } from "fastify";
import { statusOf } from "./error-map.ts";
import { type CookieOptions, setSessionCookie } from "./session-cookie.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** A submission's version, token and time as headers. */
export function markHeaders(
  reply: FastifyReply,
  mark: { version: number; updatedAt?: number; resumeToken?: string },
): void {
  const { version, updatedAt, resumeToken } = mark;
  reply.header("etag", resumeToken === undefined ? `"${version}"` : `"${resumeToken}"`);
  if (resumeToken !== undefined) reply.header("x-resume-token", resumeToken);
  reply.header("x-intake-version", version);
  reply.header("x-submission-version", version);
  if (updatedAt !== undefined) reply.header("last-modified", new Date(updatedAt).toUTCString());
}

function replayHeaders(reply: FastifyReply, replayOf: number | undefined): void {
  if (replayOf === undefined) return;
  reply.header("idempotent-replayed", "true");
  reply.header("x-original-request-time", toIso(replayOf));
}

export function sendAnswer(
  reply: FastifyReply,
  answer: OperationResponse<unknown> & { notModified?: true },
  cookie: CookieOptions,
): FastifyReply {
  if (answer.opened !== undefined) setSessionCookie(reply, answer.opened, cookie);
  if (answer.mark !== undefined) markHeaders(reply, answer.mark);
  replayHeaders(reply, answer.replayOf);
  if (answer.rate !== undefined) {
    const { rule, remaining, resetMs } = answer.rate;
    reply.header("ratelimit-policy", `"${rule.name}";q=${rule.limit};w=${Math.ceil(rule.windowMs / 1000)}`);
    reply.header("ratelimit", `"${rule.name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`);
  }
  if (answer.notModified === true) return reply.code(304).send();
  return reply
    .code(answer.created === true ? 201 : 200)
    .header("content-type", JSON_TYPE)
    .send(JSON.stringify(answer.body));
}

/** When to try again, and how to authenticate. */
export function refusalHeaders(reply: FastifyReply, { type, detail }: ContractError): void {
  if (detail.retryAfterMs !== undefined) reply.header("retry-after", Math.ceil(detail.retryAfterMs / 1000));
  if (type === "unauthorized") reply.header("www-authenticate", 'Bearer realm="formbridge"');
}

export function sendError(reply: FastifyReply, error: ContractError): FastifyReply {
  const { version, resumeToken, updatedAt, replayOf } = error.about;
  if (version !== undefined) {
    markHeaders(reply, {
      version,
      ...(updatedAt !== undefined && { updatedAt }),
      ...(resumeToken !== undefined && { resumeToken }),
    });
  }
  replayHeaders(reply, replayOf);
  refusalHeaders(reply, error);
  return reply
    .code(statusOf(error))
    .header("content-type", JSON_TYPE)
    .send(JSON.stringify(errorBody(error)));
}
