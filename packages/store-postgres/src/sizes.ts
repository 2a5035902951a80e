import { type Backend, MAX_COUNTED_JOBS } from "@formbridge/core";
import { computed, jobs, records, tokens } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { sql, statement } from "./sql.ts";

/** The planner's estimates; -1 before the first ANALYZE. */
const ESTIMATE = statement(
  "estimate_sizes",
  sql`SELECT ${computed<{ name: string; rows: number; pages: number }>(
    "relname AS name, reltuples::bigint AS rows, (pg_relation_size(oid) / current_setting('block_size')::int)::bigint AS pages",
  )} FROM pg_class WHERE oid IN ('formbridge.tokens'::regclass, 'formbridge.records'::regclass)`,
);

/** The shares of intakes among the records on a few pages, picked at random. */
const SHARES = statement(
  "sample_records",
  sql`SELECT ${computed<{ intake_id: string; count: number }>("intake_id, count(*) AS count")} FROM ${records} TABLESAMPLE SYSTEM ($1::float8) GROUP BY intake_id`,
);

const TOKENS = statement(
  "count_few_tokens",
  sql`SELECT ${computed<{ count: number }>("count(*) AS count")} FROM ${tokens}`,
);

const JOBS = statement(
  "count_some_jobs",
  sql`SELECT ${computed<{ count: number }>("count(*) AS count")} FROM (SELECT 1 FROM ${jobs} LIMIT $1) AS waiting`,
);

/** Pages of 8 KiB that a sample reads at most. A smaller table is counted whole. */
const SAMPLED_PAGES = 200;

export function createSizes(db: Database): Pick<Backend, "sizes" | "isShared" | "jobsWaiting" | "connectionsInUse"> {
  async function recordsByIntake(known: { rows: number; pages: number } | undefined): Promise<Record<string, number>> {
    const percent = Math.min(100, (100 * SAMPLED_PAGES) / Math.max(1, known?.pages ?? 0));
    const sample = await db.read(SHARES, [percent]);
    const sampled = sample.reduce((sum, { count }) => sum + count, 0);
    const total = percent === 100 ? sampled : Math.max(sampled, known?.rows ?? 0);
    return Object.fromEntries(sample.map(({ intake_id, count }) => [intake_id, Math.round((count / sampled) * total)]));
  }

  /** The planner's estimate of a small table may be old, so count it. */
  async function tokensOf({ rows, pages }: { rows: number; pages: number } = { rows: 0, pages: 0 }): Promise<number> {
    if (pages > SAMPLED_PAGES) return Math.max(0, rows);
    return (await db.read(TOKENS, []))[0]?.count ?? 0;
  }

  return {
    async sizes() {
      const tables = new Map((await db.read(ESTIMATE, [])).map((table) => [table.name, table]));
      return {
        tokens: await tokensOf(tables.get("tokens")),
        records: await recordsByIntake(tables.get("records")),
      };
    },
    isShared: true,
    jobsWaiting: async () => (await db.read(JOBS, [MAX_COUNTED_JOBS]))[0]?.count ?? 0,
    connectionsInUse: db.connectionsInUse,
  };
}
