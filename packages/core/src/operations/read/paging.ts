import { type PageScope, refusedPage, type Total } from "../../domain/page.ts";
import type { Principal } from "../caller.ts";
import type { Deps } from "../deps.ts";

const DEFAULT_PAGE = 50;

/** One page of a list. */
export interface OpenPage {
  scope: PageScope;
  /** From the token, or from the caller on the first page. */
  query: Record<string, string>;
  limit: number;
  /** Absent on the first page. */
  after?: string;
  /** The number of items on earlier pages. */
  cursor: number;
  total?: Total;
}

type Given = Record<string, string | number | undefined> & { pageToken?: string | undefined };

/** Where a page starts, and its query: the token's own, which any parameters given beside it must match. */
export async function openPage(
  deps: Deps,
  { list, principal }: { list: string; principal: Principal | undefined },
  { pageToken, ...given }: Given,
): Promise<OpenPage> {
  const scope = { list, ...(principal && { holder: { tenant: principal.tenant, keyId: principal.keyId } }) };
  const query = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  if (pageToken === undefined) return { scope, query, limit: limitOf(query), cursor: 0 };
  const position = await deps.pageTokens.open(pageToken, scope, await deps.backend.deadlines.now());
  if (Object.keys(query).some((name) => query[name] !== position.query[name])) throw refusedPage();
  return { scope, ...position, limit: limitOf(position.query) };
}

const limitOf = ({ limit = DEFAULT_PAGE }: { limit?: string | number }): number => Number(limit);

/** The token of the next page, if there is one: `after` is where it starts, `shown` how many items this page has. */
export async function nextPage(
  deps: Deps,
  { scope, query, cursor, total }: OpenPage,
  { after, shown }: { after: string | undefined; shown: number },
): Promise<{ nextPageToken?: string }> {
  if (after === undefined) return {};
  const position = { query, after, cursor: cursor + shown, ...(total && { total }) };
  return { nextPageToken: (await deps.pageTokens.sign(scope, position, await deps.backend.deadlines.now())).token };
}

export interface PageEnd {
  total?: number;
  totalIsEstimate?: true;
  nextPageToken?: string;
}

/** Counts the items of the whole list that the caller may see, up to `atMost`. */
export type CountItems = (atMost: number) => Promise<number>;

/**
 * The end of a page of a list with a total. It is counted for the first page only; later pages have it from their
 * token. Without `count`, since what the caller may see can't be counted cheaply, only a list of one page has a total.
 */
export async function endPage(
  deps: Deps,
  page: OpenPage,
  { after, shown, count }: { after: string | undefined; shown: number; count?: CountItems | undefined },
): Promise<PageEnd> {
  const isWhole = page.after === undefined && after === undefined;
  const total = isWhole ? { count: shown, isEstimate: false } : count && (page.total ?? (await totalOf(deps, count)));
  const seen = page.cursor + shown + (after === undefined ? 0 : 1);
  return {
    ...(total && { total: atLeast(total, seen).count, ...(total.isEstimate && { totalIsEstimate: true as const }) }),
    ...(await nextPage(deps, { ...page, ...(total && { total }) }, { after, shown })),
  };
}

export async function totalOf({ settings: { listCountLimit } }: Deps, count: CountItems): Promise<Total> {
  const counted = await count(listCountLimit + 1);
  return { count: Math.min(counted, listCountLimit), isEstimate: counted > listCountLimit };
}

/** The reader of a late page has seen that there are this many. */
export const atLeast = (total: Total, seen: number): Total => ({ ...total, count: Math.max(total.count, seen) });
