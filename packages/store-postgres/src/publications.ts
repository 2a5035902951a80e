import type { PublicationFilter, Publications } from "@formbridge/core";
import { columnsOf, computed, liveContent, noContent, publicationOf, publications } from "@formbridge/store-sql";
import type { Database, Value } from "./database.ts";
import { pick, sql, statement } from "./sql.ts";

/**
 * A write is stamped after its transaction began, so running transactions can't get a stamp older than the oldest of them. Expressed as
 * an age, because tests replace the clock.
 */
const HORIZON = statement(
  "publications_horizon",
  // Read the clock before the transactions: one that isn't listed yet will read the clock later.
  sql`WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS at)
    SELECT ${computed<{ at: number }>(
      "clock.at - coalesce(max(ceil(extract(epoch FROM clock_timestamp() - running.xact_start) * 1000)), 0)::bigint AS at",
    )}
    FROM clock LEFT JOIN pg_stat_activity AS running
      ON running.datname = current_database() AND running.application_name = current_setting('application_name')
    GROUP BY clock.at`,
);

const STAMP = pick(publications, "p", ...columnsOf(publications, "content"));

/** `$1` and `$2` are the range of stamps, `$3` and `$4` the position to continue after, `$5` the limit. */
const lists = (name: string, chosen: string) => {
  const list = (title: string, content: typeof liveContent) =>
    statement(
      `list_${title}_${name}`,
      sql`SELECT ${STAMP}, ${content} FROM ${publications} AS p
        WHERE ${chosen} AND p.stamped_at >= $1 AND p.stamped_at < $2 AND (p.stamped_at, p.submission_id) > ($3, $4)
        ORDER BY p.stamped_at, p.submission_id LIMIT $5`,
    );
  return { bare: list("publications", noContent), whole: list("published", liveContent) };
};
const ALL = lists("all", "true");
const OF_INTAKE = lists("of_intake", "p.intake_id = $6");

const counting = (name: string, chosen: string) =>
  statement(
    `count_publications_${name}`,
    sql`SELECT ${computed<{ count: number }>("count(*) AS count")} FROM (SELECT 1 FROM ${publications} AS p
      WHERE ${chosen} AND p.stamped_at >= $1 AND p.stamped_at < $2 LIMIT $3) AS counted`,
  );
const COUNT_ALL = counting("all", "true");
const COUNT_OF_INTAKE = counting("of_intake", "p.intake_id = $4");

const GET = statement(
  "get_publication",
  sql`SELECT ${STAMP}, ${liveContent} FROM ${publications} AS p WHERE p.submission_id = $1`,
);
const EARLIEST = statement(
  "earliest_publication",
  sql`SELECT ${computed<{ at: number | null }>("min(stamped_at) AS at")} FROM ${publications}`,
);
const RESTAMP = statement(
  "restamp_publications",
  sql`UPDATE ${publications} SET status = $2, stamped_at = formbridge.now_ms() WHERE submission_id = ANY (ARRAY(
      SELECT p.submission_id FROM ${publications} AS p WHERE p.intake_id = $1 AND p.status = $3
       LIMIT $4 FOR UPDATE SKIP LOCKED)) RETURNING submission_id`,
);

const ofIntake = ({ intakeId }: PublicationFilter): Value[] => (intakeId === undefined ? [] : [intakeId]);

export function createPublications(db: Database): Publications {
  return {
    horizon: async () => (await db.read(HORIZON, []))[0]?.at ?? 0,
    list: async (filter, { limit, after, content }) => {
      const chosen = (filter.intakeId === undefined ? ALL : OF_INTAKE)[content ? "whole" : "bare"];
      const { from = 0, until } = filter;
      const position = [after?.stampedAt ?? from, after?.submissionId ?? ""];
      return (await db.read(chosen, [from, until, ...position, limit, ...ofIntake(filter)])).map(publicationOf);
    },
    count: async (filter, atMost) => {
      const chosen = filter.intakeId === undefined ? COUNT_ALL : COUNT_OF_INTAKE;
      const values = [filter.from ?? 0, filter.until, atMost, ...ofIntake(filter)];
      return (await db.read(chosen, values))[0]?.count ?? 0;
    },
    get: async (submissionId) => (await db.read(GET, [submissionId])).map(publicationOf)[0],
    earliest: async () => (await db.read(EARLIEST, []))[0]?.at ?? undefined,
    restamp: async (intakeId, to, limit) => {
      const from = to === "live" ? "withdrawn" : "live";
      return (await db.write(RESTAMP, [intakeId, to, from, limit])).length;
    },
  };
}
