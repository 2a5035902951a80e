import { migrate, openPostgresBackend } from "@formbridge/store-postgres";
import { type Column, type Kind, TABLES, type Table } from "@formbridge/store-sql";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { MIGRATIONS } from "../src/migrations/index.ts";
import { optionsFor } from "./open.ts";

const TYPES: Record<Kind, string> = { text: "text", hash: "text", json: "text", int: "bigint", bool: "boolean" };

const opened: TestDatabase[] = [];
let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
  opened.push(database);
});
afterAll(() => Promise.all(opened.map((one) => one.close())));

const idsOf = (steps: { id: number }[]): number[] => steps.map(({ id }) => id);
const ledger = () => database.query<{ id: number }>("SELECT id FROM formbridge.schema_migrations ORDER BY id");

/** Every table with its columns and indexes, every type, every function and every trigger: what the code relies on. */
const SCHEMA = `
  SELECT 'column' AS kind, table_name || '.' || column_name AS name,
    concat_ws(' ', data_type, collation_name, CASE is_nullable WHEN 'NO' THEN 'NOT NULL' END, column_default) AS says
  FROM information_schema.columns WHERE table_schema = 'formbridge'
  UNION ALL
  SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'formbridge'
  UNION ALL
  SELECT 'function', p.proname, pg_get_function_arguments(p.oid) || ' → ' || pg_get_function_result(p.oid)
    || ' ' || p.provolatile::text || ' ' || md5(p.prosrc)
  FROM pg_proc AS p WHERE p.pronamespace = 'formbridge'::regnamespace
  UNION ALL
  SELECT 'type', t.typname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
  FROM pg_type AS t JOIN pg_class AS c ON c.oid = t.typrelid AND c.relkind = 'c' JOIN pg_attribute AS a ON a.attrelid = c.oid
  WHERE t.typnamespace = 'formbridge'::regnamespace GROUP BY t.typname
  UNION ALL
  SELECT 'trigger', c.relname || '.' || t.tgname, pg_get_triggerdef(t.oid)
  FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
  WHERE c.relnamespace = 'formbridge'::regnamespace AND NOT t.tgisinternal
  ORDER BY kind, name`;

describe("migrations", () => {
  it("bring an empty database up to date, once", async () => {
    const ids = idsOf([...MIGRATIONS]);
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(await migrate(optionsFor(database.url))).toEqual(MIGRATIONS);
    expect(await migrate(optionsFor(database.url))).toEqual([]);
    expect(await ledger()).toEqual(MIGRATIONS.map(({ id }) => ({ id })));
  });

  it("are run by one of many processes that start at the same time", async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, () => migrate(optionsFor(database.url))));
    expect(runs.filter((steps) => steps.length > 0)).toHaveLength(1);
    expect(await ledger()).toHaveLength(MIGRATIONS.length);
  });

  it("run only the missing steps", async () => {
    const next = { id: 2, name: "next", sql: "CREATE TABLE formbridge.a (b integer)" };
    await migrate(optionsFor(database.url), MIGRATIONS.slice(0, 1));
    expect(await migrate(optionsFor(database.url), [...MIGRATIONS.slice(0, 1), next])).toEqual([next]);
  });

  it("leave the schema as it was when a step fails", async () => {
    const good = { id: 1, name: "good", sql: "CREATE TABLE formbridge.a (b integer)" };
    const bad = { id: 2, name: "bad", sql: "CREATE TABLE formbridge.a (b integer)" };
    await expect(migrate(optionsFor(database.url), [good, bad])).rejects.toThrow("already exists");
    expect(await database.query("SELECT 1 FROM pg_namespace WHERE nspname = 'formbridge'")).toEqual([]);
    expect(await migrate(optionsFor(database.url), [good])).toEqual([good]);
  });

  it("refuse a database written by newer code, with an explanation", async () => {
    await migrate(optionsFor(database.url));
    await database.query("INSERT INTO formbridge.schema_migrations VALUES (99, 'from the future')");
    await expect(openPostgresBackend(optionsFor(database.url))).rejects.toThrow(
      /has schema 99, but this FormBridge knows schemas up to/,
    );
  });

  it("create the columns that rows are typed by", async () => {
    await migrate(optionsFor(database.url));
    for (const { name, columns } of Object.values<Table<Record<string, Column<unknown>>>>(TABLES)) {
      const rows = await database.query<{ name: string; type: string; nullable: boolean }>(
        `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable
         FROM information_schema.columns WHERE table_schema = 'formbridge' AND table_name = '${name}'`,
      );
      const described = Object.entries(columns).map(([column, { kind, nullable }]) => ({
        name: column,
        type: TYPES[kind],
        nullable,
      }));
      expect(new Set(rows), name).toEqual(new Set(described));
    }
  });

  it("create the schema of the snapshot", async () => {
    await migrate(optionsFor(database.url));
    const rows = await database.query<{ kind: string; name: string; says: string }>(SCHEMA);
    const text = rows.map(({ kind, name, says }) => `${kind} ${name}: ${says}`).join("\n");
    await expect(`${text}\n`).toMatchFileSnapshot("schema.snapshot.txt");
  });
});
