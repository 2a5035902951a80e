import { ContractError } from "../../domain/error.ts";
import type { Deps } from "../deps.ts";

export const DEFAULT_PAGE = 50;

/** Where a page starts, and the query that it belongs to: the token's own, which what is given beside it must match. */
export async function openPage(
  deps: Deps,
  list: string,
  given: Record<string, string | undefined> & { pageToken?: string | undefined },
): Promise<{ query: Record<string, string>; after?: string }> {
  const { pageToken, ...rest } = given;
  const query = Object.fromEntries(
    Object.entries(rest).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  if (pageToken === undefined) return { query };
  const now = await deps.backend.deadlines.now();
  const position = await deps.pageTokens.open(pageToken, list, now);
  const other = Object.keys(query).find((key) => query[key] !== position.query[key]);
  if (other !== undefined) {
    throw new ContractError("bad_request", `pageToken: it belongs to a list with another ${other}.`);
  }
  return { query: position.query, after: position.after };
}

/** The token of the next page, when there is one. */
export async function nextPage(
  deps: Deps,
  position: { list: string; query: Record<string, string>; after: string | undefined },
): Promise<{ nextPageToken?: string }> {
  const { after, ...rest } = position;
  if (after === undefined) return {};
  const now = await deps.backend.deadlines.now();
  return { nextPageToken: await deps.pageTokens.sign({ ...rest, after }, now) };
}
