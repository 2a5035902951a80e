import type { BenchPostgres } from "./cluster.ts";

/** `INSERT … SELECT` of a table's rows for every number, with some columns computed and some left to their default. */
const copyRows = (table: string, columns: readonly string[], made: Record<string, string>): string => {
  const kept = columns.filter((name) => made[name] !== "");
  return `INSERT INTO formbridge.${table} (${kept.join(", ")})
    SELECT ${kept.map((name) => made[name] ?? `t.${name}`).join(", ")}
    FROM first_of_${table} AS t CROSS JOIN numbers AS c`;
};

/** The same as `tokenOfCopy`. */
const TOKEN = "'rtok_' || translate(encode(sha256(convert_to('copy ' || c.number, 'UTF8')), 'base64'), '+/=', '-_')";
const EXPIRES_AT = "t.expires_at + c.number - 1";
const hexOf = (text: string): string => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`;

const TABLES = ["submissions", "tokens", "events"];

/**
 * Fills tables without their indexes and builds these afterwards, as a restore does: inserting millions of rows in
 * random index order would be slow.
 */
export async function fillWithoutIndexes(
  postgres: BenchPostgres,
  databaseUrl: string,
  { tables, fill }: { tables: readonly string[]; fill: string },
): Promise<void> {
  const filled = `(${tables.map((name) => `'formbridge.${name}'::regclass`).join(", ")})`;
  const constraints = await postgres.run(
    databaseUrl,
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS dropped,
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS built
       FROM pg_constraint WHERE contype IN ('p', 'u') AND conrelid IN ${filled}`,
  );
  const indexes = await postgres.run(
    databaseUrl,
    `SELECT format('DROP INDEX %s', indexrelid::regclass) AS dropped, pg_get_indexdef(indexrelid) AS built
       FROM pg_index WHERE indrelid IN ${filled}
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  const both = [...constraints, ...indexes];
  const dropped = both.map((row) => row.dropped);
  const built = both.map((row) => row.built);
  const settings = ["SET synchronous_commit = off", "SET maintenance_work_mem = '1GB'", "SET work_mem = '256MB'"];
  await postgres.run(databaseUrl, [...settings, ...dropped, fill, ...built].join(";\n"));
  const names = tables.map((name) => `formbridge.${name}`);
  await postgres.run(databaseUrl, `VACUUM (ANALYZE) ${names.join(", ")}`);
  await postgres.run(databaseUrl, "CHECKPOINT");
}

/** A table's columns, in order. */
export async function columnsOf(postgres: BenchPostgres, databaseUrl: string, table: string): Promise<string[]> {
  const rows = await postgres.run(
    databaseUrl,
    `SELECT column_name AS name FROM information_schema.columns
      WHERE table_schema = 'formbridge' AND table_name = '${table}' ORDER BY ordinal_position`,
  );
  return rows.map(({ name }) => String(name));
}

/**
 * Fills a database with copies of its one submission, with new ids and tokens, in id order as in a database that grew,
 * one millisecond apart. Only the events of the last write are copied: the measured operations read none.
 */
export async function fillWithCopies(
  postgres: BenchPostgres,
  { databaseUrl, copies }: { databaseUrl: string; copies: number },
): Promise<{ tokens: number }> {
  const columns = (table: string): Promise<string[]> => columnsOf(postgres, databaseUrl, table);
  const ids = { submission_id: "c.id" };
  const last = "(SELECT version FROM first_of_submissions)";
  const hash = `CASE WHEN t.version = ${last} THEN ${hexOf(TOKEN)} ELSE ${hexOf("c.id || t.version")} END`;
  const doc = `replace(replace(t.doc, c.first_id, c.id), t.expires_at::text, (${EXPIRES_AT})::text)`;
  const fill = `
    CREATE TEMP TABLE first_of_submissions AS SELECT * FROM formbridge.submissions;
    CREATE TEMP TABLE first_of_tokens AS SELECT * FROM formbridge.tokens;
    CREATE TEMP TABLE first_of_events AS SELECT * FROM formbridge.events WHERE version = ${last};
    CREATE TEMP TABLE numbers AS
      SELECT n AS number, s.submission_id AS first_id,
             left(s.submission_id, -12) || lpad(to_hex(n), 12, '0') AS id
        FROM generate_series(2, ${copies + 1}) AS n, first_of_submissions AS s ORDER BY n;
    ${copyRows("submissions", await columns("submissions"), { ...ids, expires_at: EXPIRES_AT, doc })};
    ${copyRows("tokens", await columns("tokens"), { ...ids, expires_at: EXPIRES_AT, hash })};
    ${copyRows("events", await columns("events"), { ...ids, position: "", event_id: "t.event_id || c.number" })}`;
  await fillWithoutIndexes(postgres, databaseUrl, { tables: TABLES, fill });
  const [counted] = await postgres.run(databaseUrl, "SELECT count(*)::int AS tokens FROM formbridge.tokens");
  return { tokens: Number(counted?.tokens) };
}
