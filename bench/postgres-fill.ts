import type { Client } from "./client-process.ts";
import type { BenchPostgres } from "./cluster.ts";
import { startOurs } from "./server-process.ts";

/** Writes of the submission that is copied; each leaves a token. */
export const TOKENS_EACH = 10;

/** A database with one submission, written by the product itself. */
async function writeTemplate(client: Client, folder: string, databaseUrl: string): Promise<void> {
  const server = await startOurs(folder, { databaseUrl });
  try {
    const { port, apiKey } = server;
    const job = { port, connections: 1 };
    const created = await client.run({ ...job, until: { operationsEach: 1 }, load: { kind: "create", apiKey } });
    const load = { kind: "setFields" as const, tokens: created.tokens };
    await client.run({ ...job, until: { operationsEach: TOKENS_EACH - 1 }, load });
  } finally {
    await server.stop();
  }
}

/** `INSERT … SELECT` of a table's rows for every number, with some columns made anew and some left to their default. */
const copyRows = (table: string, columns: readonly string[], made: Record<string, string>): string => {
  const kept = columns.filter((name) => made[name] !== "");
  return `INSERT INTO formbridge.${table} (${kept.join(", ")})
    SELECT ${kept.map((name) => made[name] ?? `t.${name}`).join(", ")}
    FROM first_of_${table} AS t CROSS JOIN numbers AS c`;
};

/** As `tokenOfCopy` names it. */
const TOKEN = "'rtok_' || translate(encode(sha256(convert_to('copy ' || c.number, 'UTF8')), 'base64'), '+/=', '-_')";
const hexOf = (text: string): string => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`;

const FILLED = "('formbridge.submissions'::regclass, 'formbridge.tokens'::regclass, 'formbridge.events'::regclass)";

/** Millions of rows in the order of nothing go into a table without indexes; they are built after it, as by a restore. */
async function withoutIndexes(postgres: BenchPostgres, databaseUrl: string, fill: string): Promise<void> {
  const constraints = await postgres.run(
    databaseUrl,
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS dropped,
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS built
       FROM pg_constraint WHERE contype IN ('p', 'u') AND conrelid IN ${FILLED}`,
  );
  const indexes = await postgres.run(
    databaseUrl,
    `SELECT format('DROP INDEX %s', indexrelid::regclass) AS dropped, pg_get_indexdef(indexrelid) AS built
       FROM pg_index WHERE indrelid IN ${FILLED}
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  const both = [...constraints, ...indexes];
  const dropped = both.map((row) => row.dropped);
  const built = both.map((row) => row.built);
  const settings = ["SET synchronous_commit = off", "SET maintenance_work_mem = '1GB'", "SET work_mem = '256MB'"];
  await postgres.run(databaseUrl, [...settings, ...dropped, fill, ...built].join(";\n"));
}

/**
 * Fills a database with copies of its one submission, under new ids and tokens, in the order of ids as in one that grew. Of the
 * events, those of the last write are copied: what is measured reads none of them.
 */
export async function fillWithCopies(
  postgres: BenchPostgres,
  { client, folder, databaseUrl, copies }: { client: Client; folder: string; databaseUrl: string; copies: number },
): Promise<{ tokens: number }> {
  await writeTemplate(client, folder, databaseUrl);
  const columnsOf = async (table: string): Promise<string[]> => {
    const rows = await postgres.run(
      databaseUrl,
      `SELECT column_name AS name FROM information_schema.columns
        WHERE table_schema = 'formbridge' AND table_name = '${table}' ORDER BY ordinal_position`,
    );
    return rows.map(({ name }) => String(name));
  };
  const ids = { submission_id: "c.id" };
  const last = "(SELECT version FROM first_of_submissions)";
  const hash = `CASE WHEN t.version = ${last} THEN ${hexOf(TOKEN)} ELSE ${hexOf("c.id || t.version")} END`;
  await withoutIndexes(
    postgres,
    databaseUrl,
    `CREATE TEMP TABLE first_of_submissions AS SELECT * FROM formbridge.submissions;
    CREATE TEMP TABLE first_of_tokens AS SELECT * FROM formbridge.tokens;
    CREATE TEMP TABLE first_of_events AS SELECT * FROM formbridge.events WHERE version = ${last};
    CREATE TEMP TABLE numbers AS
      SELECT n AS number, s.submission_id AS first_id,
             left(s.submission_id, -12) || lpad(to_hex(n), 12, '0') AS id
        FROM generate_series(2, ${copies + 1}) AS n, first_of_submissions AS s ORDER BY n;
    ${copyRows("submissions", await columnsOf("submissions"), { ...ids, doc: "replace(t.doc, c.first_id, c.id)" })};
    ${copyRows("tokens", await columnsOf("tokens"), { ...ids, hash })};
    ${copyRows("events", await columnsOf("events"), { ...ids, position: "", event_id: "t.event_id || c.number" })}`,
  );
  await postgres.run(databaseUrl, "VACUUM (ANALYZE) formbridge.submissions, formbridge.tokens, formbridge.events");
  await postgres.run(databaseUrl, "CHECKPOINT");
  const [counted] = await postgres.run(databaseUrl, "SELECT count(*)::int AS tokens FROM formbridge.tokens");
  return { tokens: Number(counted?.tokens) };
}
