import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "@formbridge/store-postgres";
import { Client } from "pg";
import { service } from "./service.ts";

export interface TestDatabase {
  url: string;
  /** Runs SQL as the database's owner. */
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** From now on the database's clock shows the given times, and stands still in between. */
  fakeClock(): Promise<(now: number) => void>;
  close(): Promise<void>;
  /** Closes it, and drops the database even if it is in use. */
  drop(): Promise<void>;
}

let made = 0;
let migrated: Promise<string> | undefined;

/** An empty database with our tables: a copy of one that was migrated once for all tests of this process. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  migrated ??= migrateOne();
  return await createDatabase({ like: await migrated });
}

async function migrateOne(): Promise<string> {
  const database = await createDatabase();
  await migrate({ url: database.url, connectTimeoutMs: 20_000 });
  // A database can only be copied if nobody is connected to it.
  await database.close();
  return new URL(database.url).pathname.slice(1);
}

/** A database on this test run's PostgreSQL, empty or a copy of another. It goes away with the server. */
export async function createDatabase({ like = "template0" } = {}): Promise<TestDatabase> {
  const { url: server, clocks = "" } = await service("postgres");
  made += 1;
  const name = `test_${process.pid}_${made}`;
  await asAdmin(`${server}/postgres`, (admin) => admin.query(`CREATE DATABASE ${name} TEMPLATE ${like}`));
  const url = `${server}/${name}`;
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return {
    url,
    query: async (sql, values) => (await client.query(sql, values)).rows,
    async fakeClock() {
      const file = join(clocks, name);
      const set = (now: number) => {
        // Renamed into place, so that a query never reads a partial value.
        writeFileSync(`${file}.next`, String(now), { mode: 0o644 });
        renameSync(`${file}.next`, file);
      };
      await client.query(`CREATE OR REPLACE FUNCTION formbridge.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
        SELECT pg_read_file('${file}')::bigint $$`);
      return set;
    },
    close: () => client.end(),
    async drop() {
      await client.end();
      await asAdmin(`${server}/postgres`, (admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

async function asAdmin<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
