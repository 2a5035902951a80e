import { fixtures } from "@formbridge/conformance";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { afterEach, expect, it } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { makeDurable, openDatabase } from "../src/database.ts";
import { withClient } from "../src/migrate.ts";
import { optionsFor } from "./open.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function databaseWith(setting: string, value: string): Promise<TestDatabase> {
  const database = await createMigratedDatabase();
  closers.push(database.drop);
  await configure(database, `SET ${setting} = ${value}`);
  return database;
}

async function configure(database: TestDatabase, change: string): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER DATABASE ${name} ${change}`);
  await database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'formbridge'",
  );
}

/** The settings of the connections that write. */
async function settingOn(url: string): Promise<string> {
  const db = openDatabase(optionsFor(url));
  closers.push(db.close);
  const show = { name: "show", text: "SELECT current_setting('synchronous_commit') AS value" };
  const values = await Promise.all(Array.from({ length: 8 }, () => db.write<{ value: string }>(show, [])));
  const distinct = new Set(values.flat().map(({ value }) => value));
  expect(distinct.size).toBe(1);
  return [...distinct].join();
}

it.each([
  ["off", "on"],
  ["local", "on"],
  ["remote_write", "on"],
  ["on", "on"],
  ["remote_apply", "remote_apply"],
])("[AUDIT-F26] where the database says synchronous_commit = %s, our connections have %s", async (said, holds) => {
  const database = await databaseWith("synchronous_commit", said);
  expect(await settingOn(database.url)).toBe(holds);
  const shown = await withClient(optionsFor(database.url), (client) => client.query("SHOW synchronous_commit"));
  expect(shown.rows).toEqual([{ synchronous_commit: holds }]);
  await withClient(optionsFor(database.url), makeDurable);
});

it("[AUDIT-F28] a read-only database is unhealthy as long as it is read-only, even if reads succeed", async () => {
  const database = await createMigratedDatabase();
  closers.push(database.drop);
  const backend = await openPostgresBackend(optionsFor(database.url));
  closers.push(backend.close);
  const health = () => backend.tokens.health();
  expect(await health()).toMatchObject({ healthy: true });
  await configure(database, "SET default_transaction_read_only = on");
  await expect.poll(async () => (await health()).healthy).toBe(false);
  for (let look = 0; look < 10; look++) {
    await expect(backend.store.commit(fixtures.creation({ at: 0 }))).rejects.toThrow();
    await backend.store.load({ by: { intake: "nothing" } });
    expect(await health()).toMatchObject({ healthy: false, detail: "the database is read-only" });
  }
  await configure(database, "RESET default_transaction_read_only");
  await expect.poll(async () => (await health()).healthy).toBe(true);
  expect(await backend.store.commit(fixtures.creation({ at: 0 }))).toMatchObject({ kind: "committed" });
});

it("[AUDIT-F28] after a failed write, health needs a successful write", async () => {
  const database = await createMigratedDatabase();
  closers.push(database.drop);
  const backend = await openPostgresBackend(optionsFor(database.url));
  closers.push(backend.close);
  // As a full disk would, with a code that isn't the call's fault.
  await database.query(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$`);
  for (const table of ["submissions", "write_probe"]) {
    await database.query(`CREATE TRIGGER full_disk BEFORE INSERT ON formbridge.${table} EXECUTE FUNCTION full_disk()`);
  }
  await expect(backend.store.commit(fixtures.creation({ at: 0 }))).rejects.toThrow();
  expect(await backend.tokens.health()).toMatchObject({ healthy: false });
  expect(await backend.tokens.health()).toMatchObject({ healthy: false });
  for (const table of ["submissions", "write_probe"]) {
    await database.query(`DROP TRIGGER full_disk ON formbridge.${table}`);
  }
  expect(await backend.tokens.health()).toMatchObject({ healthy: true });
});
