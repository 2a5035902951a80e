import { type Migration, pendingAmong } from "@formbridge/store-sql";
import { Client } from "pg";
import { connectionSettings, makeDurable } from "./database.ts";
import { reasonOf } from "./failures.ts";
import { MIGRATIONS } from "./migrations/index.ts";

const LEDGER = `CREATE SCHEMA IF NOT EXISTS formbridge;
  CREATE TABLE IF NOT EXISTS formbridge.schema_migrations (
    id          integer PRIMARY KEY,
    name        text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
  )`;

/** An arbitrary number, the same in every FormBridge. */
const MIGRATION_LOCK = 4_607_182;

export interface MigrationOptions {
  url: string;
  directUrl?: string;
  connectTimeoutMs: number;
}

export async function withClient<Result>(
  options: MigrationOptions,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  // Only connecting has a timeout: a migration may take long, and so may another process that runs it.
  const settings = connectionSettings({ ...options, statementTimeoutMs: 0, lockTimeoutMs: 0 });
  const client = new Client({ ...settings, query_timeout: 0 });
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw new Error(`PostgreSQL can't be reached: ${reasonOf(error)}`, { cause: error });
  });
  try {
    await makeDurable(client);
    return await work(client);
  } finally {
    await client.end();
  }
}

async function pending(client: Client, known: readonly Migration[]): Promise<Migration[]> {
  const { rows } = await client.query("SELECT to_regclass('formbridge.schema_migrations') IS NOT NULL AS there");
  const ledger =
    rows[0]?.there === true
      ? await client.query<Migration>("SELECT id, name FROM formbridge.schema_migrations ORDER BY id")
      : undefined;
  return pendingAmong(known, { database: client.database ?? "", applied: ledger?.rows ?? [] });
}

/** Brings the schema up to date, all steps or none, and returns the steps it ran. Safe to run twice, and concurrently. */
export function migrate(options: MigrationOptions, known: readonly Migration[] = MIGRATIONS): Promise<Migration[]> {
  return withClient(options, async (client) => {
    if ((await pending(client, known)).length === 0) return [];
    // Before the transaction: it must begin after the previous holder of the lock committed, to see its tables.
    await client.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]);
    await client.query("BEGIN");
    const steps = await pending(client, known);
    await client.query(LEDGER);
    for (const { id, name, sql } of steps) {
      await client.query(sql);
      await client.query("INSERT INTO formbridge.schema_migrations (id, name) VALUES ($1, $2)", [id, name]);
    }
    await client.query("COMMIT");
    return steps;
  });
}
