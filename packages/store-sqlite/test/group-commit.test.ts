import { cpSync, existsSync } from "node:fs";
import { fixtures } from "@formbridge/conformance";
import type { Change, Measure } from "@formbridge/core";
import { migrate, openDatabase, openSqliteBackend } from "@formbridge/store-sqlite";
import { SqliteError } from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { createSqliteBackend } from "../src/backend.ts";
import { failedCommit } from "../src/failures.ts";
import { tempFile } from "./temp-file.ts";

const { creation, update } = fixtures;
const many = (count: number): Change[] => Array.from({ length: count }, () => creation({ at: 0 }));

function observed(file: string) {
  const groups: number[] = [];
  const record = (measure: Measure) => {
    if (measure.name === "group_commit") groups.push(measure.changes);
  };
  return { groups, backend: openSqliteBackend({ file, now: () => 0, instrumentation: { record } }) };
}

it("all changes of one turn share one commit, up to a bound", async () => {
  const { groups, backend } = observed(tempFile());
  await Promise.all(many(30).map(backend.store.commit));
  expect(groups).toEqual([30]);
  await Promise.all(many(300).map(backend.store.commit));
  expect(groups).toEqual([30, 256, 44]);
  await backend.close();
});

describe("group commit", () => {
  it("a change sees what was done earlier in its group", async () => {
    const { groups, backend } = observed(tempFile());
    const first = creation({ at: 0 });
    const answers = await Promise.all([first, update(first, 0), update(first, 0)].map(backend.store.commit));
    expect(answers.map(({ kind }) => kind)).toEqual(["committed", "committed", "stale"]);
    expect(groups).toEqual([3]);
    await backend.close();
  });

  it("a change that fails does not fail its group, and leaves no part of itself behind", async () => {
    const { groups, backend } = observed(tempFile());
    const [good, poisoned, alsoGood] = [creation({ at: 0 }), creation({ at: 0 }), creation({ at: 0 })];
    if (good.token) poisoned.token = good.token;
    const answers = await Promise.allSettled([good, poisoned, alsoGood].map(backend.store.commit));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(answers[1]).toMatchObject({
      reason: { outcome: "not_applied", cause: { code: "SQLITE_CONSTRAINT_UNIQUE" } },
    });
    expect(groups).toEqual([3]);
    const rows = await backend.submissions.list({ tenant: good.tenant }, { limit: 10 });
    expect(rows).toEqual([alsoGood.row, good.row]);
    await backend.close();
  });

  it("returns nothing before the commit: if that fails, all fail", async () => {
    const file = tempFile();
    const { backend } = observed(file);
    const db = openDatabase(file);
    // A violation that only COMMIT detects.
    db.exec(
      `CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
       CREATE TRIGGER orphan AFTER INSERT ON submissions BEGIN INSERT INTO child VALUES (1); END`,
    );
    const answers = await Promise.allSettled(many(3).map(backend.store.commit));
    for (const answer of answers) {
      expect(answer).toMatchObject({
        reason: { outcome: "not_applied", cause: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } },
      });
    }
    expect(db.prepare("SELECT count(*) FROM child").pluck().get()).toBe(0);
    db.exec("DROP TRIGGER orphan");
    expect(await backend.store.commit(creation({ at: 0 }))).toMatchObject({ kind: "committed" });
    db.close();
    await backend.close();
  });
});

describe("a store that can't write", () => {
  it("reports on a full disk that nothing was applied, and still reads and recovers", async () => {
    const db = openDatabase(tempFile());
    migrate(db);
    const { store, submissions, tokens, close } = createSqliteBackend(db, { now: () => 0 });
    const kept = creation({ at: 0 });
    await store.commit(kept);
    const pages = Number(db.pragma("page_count", { simple: true }));
    db.pragma(`max_page_count = ${pages}`);
    const huge = many(20);
    for (const change of huge) change.row.submission.fields = { text: "x".repeat(20_000) };
    for (const answer of await Promise.allSettled(huge.map(store.commit))) {
      expect(answer).toMatchObject({ reason: { outcome: "not_applied", cause: { code: "SQLITE_FULL" } } });
    }
    expect(await submissions.list({ tenant: kept.tenant }, { limit: 10 })).toEqual([kept.row]);
    // Another writer's lock makes a small write fail: after a failed write, the health check writes.
    const other = openDatabase(db.name);
    other.exec("BEGIN IMMEDIATE");
    expect(await tokens.health()).toMatchObject({ healthy: false });
    other.exec("ROLLBACK");
    other.close();
    expect(await tokens.health()).toMatchObject({ healthy: true });
    db.pragma("max_page_count = 1000000");
    expect(await Promise.all(huge.map(store.commit))).toEqual(huge.map(() => ({ kind: "committed", at: 0 })));
    await close();
  });

  it("knows after which failed commits the write may still be durable", () => {
    const outcomeOf = (code: string) => failedCommit(new SqliteError(code, code)).outcome;
    expect(outcomeOf("SQLITE_FULL")).toBe("not_applied");
    expect(outcomeOf("SQLITE_BUSY_SNAPSHOT")).toBe("not_applied");
    expect(outcomeOf("SQLITE_IOERR_WRITE")).toBe("not_applied");
    expect(outcomeOf("SQLITE_IOERR_FSYNC")).toBe("unknown");
    expect(failedCommit(new Error("?")).outcome).toBe("unknown");
  });
});

describe("a crash right after a response", () => {
  it("loses nothing that was acknowledged", async () => {
    const file = tempFile();
    const { backend } = observed(file);
    const changes = many(10);
    await Promise.all(changes.map(backend.store.commit));
    const copy = tempFile();
    for (const suffix of ["", "-wal"]) cpSync(file + suffix, copy + suffix);
    const { backend: survivor } = observed(copy);
    const rows = await survivor.submissions.list({ tenant: fixtures.TENANT }, { limit: 100 });
    expect(rows).toEqual(changes.map(({ row }) => row).reverse());
    await survivor.close();
    await backend.close();
  });

  it("another process may read meanwhile", async () => {
    const file = tempFile();
    const { backend } = observed(file);
    const reader = openDatabase(file);
    await backend.store.commit(creation({ at: 0 }));
    expect(reader.prepare("SELECT count(*) FROM submissions").pluck().get()).toBe(1);
    reader.close();
    await backend.close();
  });
});

describe("a file that a command writes to", () => {
  it("delays only writes: reads are answered meanwhile", async () => {
    const file = tempFile();
    const { backend } = observed(file);
    const [known, next] = [creation({ at: 0 }), creation({ at: 0 })];
    await backend.store.commit(known);
    const command = openDatabase(file);
    command.exec("BEGIN IMMEDIATE");
    const written = backend.store.commit(next);
    await new Promise(setImmediate);
    expect(await backend.submissions.list({ tenant: known.tenant }, { limit: 9 })).toEqual([known.row]);
    command.exec("ROLLBACK");
    command.close();
    expect(await written).toMatchObject({ kind: "committed" });
    await backend.close();
  });

  it("is not waited for forever, and the next write succeeds", async () => {
    const file = tempFile();
    const { backend } = observed(file);
    const command = openDatabase(file);
    command.exec("BEGIN IMMEDIATE");
    await expect(backend.store.commit(creation({ at: 0 }))).rejects.toMatchObject({
      outcome: "not_applied",
      cause: { code: "SQLITE_BUSY" },
    });
    command.exec("ROLLBACK");
    command.close();
    expect(await backend.store.commit(creation({ at: 0 }))).toMatchObject({ kind: "committed" });
    await backend.close();
  });
});

it("a worker that finds nothing to do writes nothing", async () => {
  const { groups, backend } = observed(tempFile());
  expect(await backend.jobs.claim({ limit: 9, leaseMs: 9, perLane: 9, busy: new Map() })).toEqual([]);
  expect(await backend.webhooks.claim(9, 9)).toEqual([]);
  expect(await backend.retention.removeErased(0, 9)).toBe(0);
  expect(groups).toEqual([]);
  await backend.close();
});

it("closing commits what was accepted, refuses later writes, and leaves one complete file", async () => {
  const file = tempFile();
  const { backend } = observed(file);
  const answers = Promise.all(many(600).map(backend.store.commit));
  await backend.close();
  expect((await answers).every(({ kind }) => kind === "committed")).toBe(true);
  await expect(backend.store.commit(creation({ at: 0 }))).rejects.toMatchObject({ outcome: "not_applied" });
  expect(existsSync(`${file}-wal`)).toBe(false);
  const again = openDatabase(file);
  expect(again.prepare("SELECT count(*) FROM submissions").pluck().get()).toBe(600);
  again.close();
});
