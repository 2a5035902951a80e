import { Client } from "pg";
import { connectionSettings, makeDurable } from "./database.ts";
import { reasonOf } from "./failures.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import type { Migration } from "./migrations/migration.ts";

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

async function appliedUpTo(client: Client): Promise<number> {
  const { rows } = await client.query("SELECT to_regclass('formbridge.schema_migrations') IS NOT NULL AS there");
  if (rows[0]?.there !== true) return 0;
  const { rows: ledger } = await client.query("SELECT coalesce(max(id), 0) AS id FROM formbridge.schema_migrations");
  return ledger[0]?.id ?? 0;
}

async function pending(client: Client, known: readonly Migration[]): Promise<Migration[]> {
  const applied = await appliedUpTo(client);
  const latest = known.at(-1)?.id ?? 0;
  if (applied > latest) {
    throw new Error(
      `The database ${client.database} has schema ${applied}, but this FormBridge knows schemas up to ${latest} only. ` +
        "Start the newer FormBridge that wrote it, or restore a backup from before the upgrade.",
    );
  }
  return known.filter((migration) => migration.id > applied);
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
