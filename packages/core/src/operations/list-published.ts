import type { Instant } from "../domain/instant.ts";
import type { PagePosition, Total } from "../domain/page.ts";
import type { PublicationFilter, PublicationPlace } from "../ports/publications.ts";
import type { Context } from "./context.ts";
import { atLeast, totalOf } from "./read/paging.ts";
import { harvestHorizon, type PublishedRecord, showPublished } from "./read/published.ts";

export interface HarvestQuery {
  metadataPrefix: string;
  /** The first second, in ISO 8601. */
  from?: string;
  /** The last second. */
  until?: string;
  /** An intake id. */
  set?: string;
}

export interface Harvest {
  /** The query of the first page. */
  query: HarvestQuery;
  records: PublishedRecord[];
  /** The list is complete up to this second, exclusive; a later harvest continues from here. */
  horizon: Instant;
  /** The number of records on earlier pages. */
  cursor: number;
  total: Total;
  /** Absent on the last page. */
  next?: { token: string; expiresAt: Instant };
}

/**
 * A page of published submissions, in order of change. Each page goes up to its own horizon, so a record that changes
 * during the harvest moves to the end and is returned there.
 */
export async function listPublished(
  context: Context,
  call: { verb: string; content: boolean; query: HarvestQuery | { token: string } },
): Promise<Harvest> {
  const { pageTokens, backend, settings } = context.deps;
  const scope = { list: `oai:${call.verb}` };
  const now = await backend.deadlines.now();
  const begun: Partial<PagePosition> & Pick<PagePosition, "query" | "cursor"> =
    "token" in call.query
      ? await pageTokens.open(call.query.token, scope, now)
      : { query: { ...call.query }, cursor: 0 };
  const query = begun.query as Record<string, string> & HarvestQuery;
  const horizon = await harvestHorizon(context);
  const filter = filterFor(query, horizon);
  const limit = settings.harvestPageSize;
  const after = begun.after === undefined ? {} : { after: placeOf(begun.after) };
  const rows = await backend.publications.list(filter, { limit: limit + 1, ...after, content: call.content });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const cursor = begun.cursor + shown.length;
  const isOnly = last === undefined && begun.cursor === 0;
  const total =
    begun.total ??
    (isOnly
      ? { count: cursor, isEstimate: false }
      : await totalOf(context.deps, (atMost) => backend.publications.count(filter, atMost)));
  return {
    query,
    records: await showPublished(context, shown),
    horizon,
    cursor: begun.cursor,
    total: atLeast(total, cursor + (last === undefined ? 0 : 1)),
    ...(last && { next: await pageTokens.sign(scope, { query, after: textOf(last), cursor, total }, now) }),
  };
}

const SECOND = 1000;

function filterFor({ from, until, set }: HarvestQuery, horizon: Instant): PublicationFilter {
  return {
    until: until === undefined ? horizon : Math.min(horizon, Date.parse(until) + SECOND),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(set !== undefined && { intakeId: set }),
  };
}

const textOf = ({ stampedAt, submissionId }: PublicationPlace): string => `${stampedAt} ${submissionId}`;

function placeOf(text: string): PublicationPlace {
  const [stampedAt, submissionId = ""] = text.split(" ");
  return { stampedAt: Number(stampedAt), submissionId };
}
