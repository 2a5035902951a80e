import { columnsOf, TABLES, type Table } from "@formbridge/store-sql";
import { migrate, openDatabase, openSqliteBackend, pendingMigrations } from "@formbridge/store-sqlite";
import { describe, expect, it } from "vitest";
import { tempFile } from "./temp-file.ts";

describe("migrations", () => {
  it("bring a new file up to date, once", () => {
    const db = openDatabase(tempFile());
    const pending = pendingMigrations(db);
    const ids = pending.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(migrate(db)).toEqual(pending);
    expect(pendingMigrations(db)).toEqual([]);
    expect(migrate(db)).toEqual([]);
    db.close();
  });

  it("create every column of the typed tables, and `sid` in place of those that are read from the submission", () => {
    const db = openDatabase(tempFile());
    migrate(db);
    const ofSubmission = ["tenant", "submission_id", "intake_id"];
    for (const table of Object.values(TABLES) as Table[]) {
      const known = db.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck().all(table.name);
      const readElsewhere = known.includes("sid") ? ofSubmission : [];
      const missing = columnsOf(table).filter((name) => !known.includes(name));
      expect(
        missing.filter((name) => !readElsewhere.includes(name)),
        table.name,
      ).toEqual([]);
      const own = known.filter((name) => !(columnsOf(table) as string[]).includes(name));
      expect(
        own.filter((name) => name !== "sid" && name !== "record_id"),
        table.name,
      ).toEqual([]);
    }
    db.close();
  });

  it("listing what is pending changes nothing", () => {
    const db = openDatabase(tempFile());
    pendingMigrations(db);
    expect(db.prepare("SELECT count(*) FROM sqlite_master").pluck().get()).toBe(0);
    db.close();
  });

  it("a step that fails leaves the schema as it was", () => {
    const db = openDatabase(tempFile());
    const good = { id: 1, name: "good", sql: "CREATE TABLE a (b)" };
    const bad = { id: 2, name: "bad", sql: "CREATE TABLE a (b)" };
    expect(() => migrate(db, [good, bad])).toThrow("already exists");
    expect(db.prepare("SELECT count(*) FROM sqlite_master").pluck().get()).toBe(0);
    expect(migrate(db, [good])).toEqual([good]);
    db.close();
  });

  it("refuse a database written by newer code, with an explanation", () => {
    const file = tempFile();
    const db = openDatabase(file);
    migrate(db);
    db.prepare("INSERT INTO schema_migrations VALUES (99, 'from the future', 'then')").run();
    db.close();
    expect(() => openSqliteBackend({ file, now: Date.now })).toThrow(
      /has schema 99, but this FormBridge knows schemas up to/,
    );
  });

  it("refuse a database whose schema has another name than ours, with an explanation", () => {
    const file = tempFile();
    const db = openDatabase(file);
    migrate(db);
    db.prepare("UPDATE schema_migrations SET name = 'draft' WHERE id = 1").run();
    db.close();
    expect(() => openSqliteBackend({ file, now: Date.now })).toThrow(/its schema 1 is "draft"/);
  });

  it("the file has the settings that durability depends on", () => {
    const db = openDatabase(tempFile());
    expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(db.pragma("synchronous", { simple: true })).toBe(2);
    expect(db.pragma("foreign_keys", { simple: true })).toBe(1);
    db.close();
  });
});
