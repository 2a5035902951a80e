import { Readable } from "node:stream";
import { ContractError, type OperationResponse, type Operations } from "@formbridge/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { preferredType } from "./parse/preferred.ts";
import type { Parsed, Route } from "./route.ts";
import { type SubmissionTable, submissionTable } from "./submission-table.ts";

export const JSON_LINES = "application/x-ndjson";
export const CSV = "text/csv";
/** How many items are in memory at a time, because an item may be large. */
const PAGE = 200;

type ListForm = typeof JSON_LINES | typeof CSV;
interface ListBody {
  items: unknown[];
  nextPageToken?: string;
}

export function isPagedList({ id, query }: Route): boolean {
  const { properties = {} } = (query ?? {}) as { properties?: object };
  return id.startsWith("list") && "pageToken" in properties;
}

/** The form in which a whole list is requested; undefined for an ordinary page. */
export function listForm(request: FastifyRequest, { asCsv }: Route): ListForm | undefined {
  const offered = ["application/json", JSON_LINES, ...(asCsv === true ? [CSV] : [])];
  const preferred = preferredType(request, offered);
  return preferred === JSON_LINES || preferred === CSV ? preferred : undefined;
}

interface Export {
  form: ListForm;
  route: Route;
  reply: FastifyReply;
  operations: Operations;
  parsed: Parsed;
}

/**
 * The whole list, one item per line. The next page is read once the client has consumed the previous one; each page
 * authenticates the caller again. If the list fails half-way, the connection is cut, so that nobody mistakes a part for
 * all of it.
 */
export async function sendList({ form, route, reply, operations, parsed }: Export): Promise<FastifyReply> {
  const ask: AskPage = (query) => route.call(operations, { ...parsed, query });
  // Refusals come before the first byte, so that each is an ordinary error response.
  if (form === CSV) return await sendTable(reply, { ask, parsed, operations });
  const { query } = parsed;
  const first = await ask(query.pageToken === undefined ? { limit: PAGE, ...query } : query);
  return stream(reply, `${JSON_LINES}; charset=utf-8`, linesOf(first, ask));
}

/** Requests a page of the list. */
type AskPage = (query: Record<string, unknown>) => Promise<OperationResponse<unknown>>;

async function sendTable(
  reply: FastifyReply,
  { ask, parsed, operations }: { ask: AskPage; parsed: Parsed; operations: Operations },
): Promise<FastifyReply> {
  const { intakeId, pageToken, fields = "true" } = parsed.query;
  if (typeof intakeId !== "string") {
    throw new ContractError("bad_request", "A CSV export has the columns of one intake. Name it with intakeId.");
  }
  if (pageToken !== undefined) {
    throw new ContractError("bad_request", "A CSV export is always the whole list. Leave pageToken out.");
  }
  const { body } = await operations.getIntakeSchema({ caller: parsed.caller, intakeId });
  const table = submissionTable(fields === "true" ? body.schema : undefined);
  const first = await ask({ limit: PAGE, ...parsed.query, fields });
  reply.header("content-disposition", `attachment; filename="${body.intakeId}.csv"`);
  return stream(reply, `${CSV}; charset=utf-8; header=present`, rowsOf(table, first, ask));
}

const stream = (reply: FastifyReply, type: string, parts: AsyncIterable<string>): FastifyReply =>
  reply.header("content-type", type).send(Readable.from(parts, { objectMode: false }));

async function* linesOf(first: OperationResponse<unknown>, ask: AskPage): AsyncGenerator<string, void, undefined> {
  for await (const items of pagesOf(first, ask)) {
    if (items.length > 0) yield `${items.map((item) => JSON.stringify(item)).join("\n")}\n`;
  }
}

async function* rowsOf(
  table: SubmissionTable,
  first: OperationResponse<unknown>,
  ask: AskPage,
): AsyncGenerator<string, void, undefined> {
  yield table.header;
  for await (const items of pagesOf(first, ask)) {
    if (items.length > 0) yield items.map((item) => table.row(item as Parameters<SubmissionTable["row"]>[0])).join("");
  }
}

async function* pagesOf(first: OperationResponse<unknown>, ask: AskPage): AsyncGenerator<unknown[], void, undefined> {
  for (let answer = first; ; ) {
    const { items, nextPageToken } = answer.body as ListBody;
    yield items;
    if (nextPageToken === undefined || answer.atEnd === true) return;
    answer = await ask({ pageToken: nextPageToken });
  }
}
