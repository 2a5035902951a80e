import type { OpenBackend, Part } from "@formbridge/conformance";
import type { Backend, Change, Instant } from "@formbridge/core";
import { openPostgresBackend, type PostgresOptions } from "@formbridge/store-postgres";
import type { Client } from "pg";
import type { TestDatabase } from "../../../test/support/services/postgres.ts";
import { commitBatch, writtenOf } from "../src/commit-statement.ts";

export const optionsFor = (url: string): PostgresOptions => ({
  url,
  poolSize: 8,
  connectTimeoutMs: 20_000,
  statementTimeoutMs: 20_000,
  lockTimeoutMs: 10_000,
});

export async function emptied(database: TestDatabase): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS name FROM pg_tables
     WHERE schemaname = 'formbridge' AND tablename <> 'schema_migrations'`,
  );
  await database.query(`TRUNCATE ${tables[0]?.name}`);
}

/** Commits changes on the test's own connection, in its transaction, and returns the ids of those that were written. */
export async function commitOn(client: Client, ...changes: Change[]): Promise<(string | null)[]> {
  const { commit, values } = commitBatch(changes.map(writtenOf));
  const { rows } = await client.query<{ submission_id: string | null }>(commit.text, values);
  return rows.map(({ submission_id }) => submission_id);
}

/** The same backend, but every call first sets the database's clock to `now`. */
function onClock(backend: Backend, tick: () => void): Backend {
  const ticking = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const member = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          tick();
          return Reflect.apply(member, target, args);
        };
      },
    });
  const ports = Object.entries(backend).map(([name, port]) => [name, typeof port === "object" ? ticking(port) : port]);
  return Object.fromEntries(ports) as Backend;
}

/** Opens one database again for each test, empty, with the test's own clock. */
export function openOn(database: TestDatabase, setClock: (now: Instant) => void): OpenBackend {
  return async (now) => {
    await emptied(database);
    const tick = () => setClock(now());
    const again = async () => {
      // Opening reads the clock, too.
      tick();
      return onClock(await openPostgresBackend(optionsFor(database.url)), tick);
    };
    return { backend: await again(), reopen: again, refuseWrites: (part) => refuseWrites(database, part) };
  };
}

/** Makes the database refuse every new row of the part's table. Returns how to end that. */
async function refuseWrites({ query }: TestDatabase, part: Part): Promise<() => Promise<void>> {
  await query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused'; END $$`);
  await query(`CREATE TRIGGER refuse BEFORE INSERT ON formbridge.${part} EXECUTE FUNCTION refuse()`);
  return async () => {
    await query(`DROP TRIGGER refuse ON formbridge.${part}`);
  };
}
