import { ContractError, type Operations } from "@formbridge/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sendAnswer } from "./encode.ts";
import { eventForm, sendEvents } from "./events-stream.ts";
import { isPagedList, listForm, sendList } from "./list-export.ts";
import { type Pages, prefersHtml } from "./pages.ts";
import { parseRequest, type RequestOptions } from "./parse/request.ts";
import { type Check, checkBody, checkLinkQuery, checkQuery } from "./parse/validate.ts";
import type { Route } from "./route.ts";
import { refuseForeignOrigin } from "./session-cookie.ts";

export interface HandleOptions extends RequestOptions {
  /** Aborted when the server stops, to end live streams. */
  stopping: AbortSignal;
  /** Absent if the pages weren't built: links then return JSON to browsers too. */
  pages?: Pages | undefined;
}

/** Parses according to the contract, calls the operation, encodes the response. Contains no rules. */
export function createHandler(route: Route, operations: Operations, options: HandleOptions) {
  const bodyCheck = route.body === undefined || route.checksItself === true ? undefined : checkBody(route.body);
  const queryCheck = queryCheckOf(route);
  const streams = route.id.startsWith("getEvents");
  const isList = isPagedList(route);
  const { page } = route;
  const { pages } = options;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (page !== undefined && pages?.has(page) && prefersHtml(request)) return pages.send(page, request, reply);
    queryCheck(request.query);
    const body = bodyOf(request, bodyCheck);
    const parsed = parseRequest(request, { body, options });
    const form = streams ? eventForm(request) : undefined;
    if (form !== undefined) {
      return await sendEvents({ form, request, reply, operations, parsed, stopping: options.stopping });
    }
    const exported = isList ? listForm(request, route) : undefined;
    if (exported !== undefined) return await sendList({ form: exported, route, reply, operations, parsed });
    // A session in a header needs no origin check: no cookie is set, the page keeps it.
    if (route.setsCookie === true && body.carrier !== "header") refuseForeignOrigin(request, options);
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

function queryCheckOf({ query, isLink }: Route): Check {
  if (isLink === true) return checkLinkQuery(query);
  return query === undefined ? refuseQuery : checkQuery(query);
}

/** Refuse unknown parameters rather than ignore a misspelt one. */
const refuseQuery: Check = (query) => {
  const [name] = Object.keys(query as object);
  if (name !== undefined)
    throw new ContractError("bad_request", `The query parameter ${name.slice(0, 100)} is unknown.`);
};
