import { ContractError, type Operations } from "@formbridge/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sendAnswer } from "./encode.ts";
import { eventForm, sendEvents } from "./events-stream.ts";
import { parseRequest, type RequestOptions } from "./parse/request.ts";
import { type Check, checkBody, checkQuery } from "./parse/validate.ts";
import type { Route } from "./route.ts";
import { refuseForeignOrigin } from "./session-cookie.ts";

export interface HandleOptions extends RequestOptions {
  /** Aborted when the server stops: live streams end. */
  stopping: AbortSignal;
}

/** How a request walks: parse by the contract, call the operation, encode. No rule lives here. */
export function createHandler(route: Route, operations: Operations, options: HandleOptions) {
  const bodyCheck = route.body === undefined || route.checksItself === true ? undefined : checkBody(route.body);
  const queryCheck = route.query === undefined ? refuseQuery : checkQuery(route.query);
  const streams = route.id.startsWith("getEvents");
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    queryCheck(request.query);
    const body = bodyOf(request, bodyCheck);
    const parsed = parseRequest(request, { body, options });
    const form = streams ? eventForm(request) : undefined;
    if (form !== undefined) {
      return await sendEvents({ form, request, reply, operations, parsed, stopping: options.stopping });
    }
    if (route.setsCookie === true) refuseForeignOrigin(request, options);
    return sendAnswer(reply, await route.call(operations, parsed), options);
  };
}

function bodyOf(request: FastifyRequest, check: Check | undefined): Record<string, unknown> {
  const { body = {} } = request;
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ContractError("bad_request", "The body must be a JSON object.");
  }
  check?.(body);
  return body as Record<string, unknown>;
}

/** A parameter that would be ignored may be one that was meant. */
const refuseQuery: Check = (query) => {
  const [name] = Object.keys(query as object);
  if (name !== undefined)
    throw new ContractError("bad_request", `The query parameter ${name.slice(0, 100)} is not known here.`);
};
