import type { Retention } from "@formbridge/core";
import { computed, dueOf, events, records, submissions } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { pick, sql, statement } from "./sql.ts";

const ENDED = "s.ended_at IS NOT NULL AND s.erased_at IS NULL";
// Skips from definition to definition in the index, however many submissions each has.
const DEFINITIONS = statement(
  "ended_definitions",
  sql`WITH RECURSIVE found AS (
      (SELECT s.definition FROM ${submissions} AS s WHERE ${ENDED} ORDER BY s.definition LIMIT 1)
      UNION ALL
      SELECT (SELECT s.definition FROM ${submissions} AS s WHERE ${ENDED} AND s.definition > found.definition
               ORDER BY s.definition LIMIT 1)
        FROM found WHERE found.definition IS NOT NULL)
    SELECT ${pick(submissions, "found", "definition")} FROM found WHERE definition IS NOT NULL`,
);
const ENDED_BEFORE = statement(
  "ended_before",
  sql`SELECT ${pick(submissions, "s", "tenant", "submission_id")} FROM ${submissions} AS s
    WHERE ${ENDED} AND s.definition = $1 AND s.ended_at < $2 ORDER BY s.ended_at LIMIT $3`,
);
const OF_GONE = "submission_id = ANY (ARRAY(SELECT g.submission_id FROM gone AS g))";
const REMOVE = statement(
  "remove_erased",
  sql`WITH gone AS MATERIALIZED (
      SELECT s.submission_id FROM ${submissions} AS s WHERE s.erased_at IS NOT NULL AND s.erased_at < $1
       ORDER BY s.erased_at LIMIT $2 FOR UPDATE SKIP LOCKED),
    history AS (DELETE FROM ${events} WHERE ${OF_GONE}),
    answers AS (DELETE FROM ${records} WHERE ${OF_GONE}),
    rows AS (DELETE FROM ${submissions} WHERE ${OF_GONE})
    SELECT ${computed<{ gone: number }>("count(*) AS gone")} FROM gone`,
);

export function createRetention(db: Database): Retention {
  return {
    definitions: async () => (await db.read(DEFINITIONS, [])).map(({ definition }) => definition),
    endedBefore: async (before, { definition, limit }) =>
      (await db.read(ENDED_BEFORE, [definition, before, limit])).map(dueOf),
    removeErased: async (before, limit) => (await db.write(REMOVE, [before, limit]))[0]?.gone ?? 0,
  };
}
