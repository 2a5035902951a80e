import { cpSync } from "node:fs";
import { fixtures } from "@formbridge/conformance";
import type { Backend, Change, Measure } from "@formbridge/core";
import { migrate, openDatabase, openSqliteBackend, type SqliteOptions } from "@formbridge/store-sqlite";
import { SqliteError } from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { createSqliteBackend } from "../src/backend.ts";
import { failedCommit } from "../src/writer/failures.ts";
import { openOnThread } from "./open-on-thread.ts";
import { tempFile } from "./temp-file.ts";

const { creation, update } = fixtures;
const many = (count: number): Change[] => Array.from({ length: count }, () => creation({ at: 0 }));

type Open = (options: Omit<SqliteOptions, "writer">) => Promise<Backend>;
const inCaller: Open = async (options) => openSqliteBackend(options);

async function observed(file: string, open: Open = inCaller) {
  const groups: number[] = [];
  const record = (measure: Measure) => {
    if (measure.name === "group_commit") groups.push(measure.changes);
  };
  return { groups, backend: await open({ file, now: () => 0, instrumentation: { record } }) };
}

it("in the caller's thread, all changes of one turn share one commit, up to a bound", async () => {
  const { groups, backend } = await observed(tempFile());
  await Promise.all(many(30).map(backend.store.commit));
  expect(groups).toEqual([30]);
  await Promise.all(many(300).map(backend.store.commit));
  expect(groups).toEqual([30, 256, 44]);
  await backend.close();
});

it("to the thread, a good many are sent at once; the others share what follows, up to a bound", async () => {
  const { groups, backend } = await observed(tempFile(), openOnThread);
  await Promise.all(many(6).map(backend.store.commit));
  expect(groups).toEqual([6]);
  await Promise.all(many(600).map(backend.store.commit));
  expect(groups[1]).toBe(16);
  expect(Math.max(...groups)).toBe(256);
  expect(groups.reduce((sum, changes) => sum + changes)).toBe(606);
  await backend.close();
});

describe.each([
  ["in the caller's thread", inCaller],
  ["on a thread", openOnThread],
])("group commit %s", (_where, open) => {
  it("a change sees what was done earlier in its group", async () => {
    const { groups, backend } = await observed(tempFile(), open);
    const first = creation({ at: 0 });
    const answers = await Promise.all([first, update(first, 0), update(first, 0)].map(backend.store.commit));
    expect(answers.map(({ kind }) => kind)).toEqual(["committed", "committed", "stale"]);
    expect(groups).toEqual([3]);
    await backend.close();
  });

  it("a change that fails does not sink its group, nor leave a part of itself behind", async () => {
    const { groups, backend } = await observed(tempFile(), open);
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

  it("answers nobody before the commit: one that fails is everybody's failure", async () => {
    const file = tempFile();
    const { backend } = await observed(file, open);
    const db = openDatabase(file);
    // What only COMMIT checks, and refuses.
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
  it("says on a full disk that nothing was applied, and still reads and recovers", async () => {
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
    // Another writer's lock stands for what a small write fails at: after a failed write, health asks for one.
    const other = openDatabase(db.name);
    db.pragma("busy_timeout = 0");
    other.exec("BEGIN IMMEDIATE");
    expect(await tokens.health()).toMatchObject({ healthy: false });
    other.exec("ROLLBACK");
    other.close();
    expect(await tokens.health()).toMatchObject({ healthy: true });
    db.pragma("max_page_count = 1000000");
    expect(await Promise.all(huge.map(store.commit))).toEqual(huge.map(() => ({ kind: "committed", at: 0 })));
    await close();
  });

  it("knows after which failed commits the write may be there all the same", () => {
    const outcomeOf = (code: string) => failedCommit(new SqliteError(code, code)).outcome;
    expect(outcomeOf("SQLITE_FULL")).toBe("not_applied");
    expect(outcomeOf("SQLITE_BUSY_SNAPSHOT")).toBe("not_applied");
    expect(outcomeOf("SQLITE_IOERR_WRITE")).toBe("not_applied");
    expect(outcomeOf("SQLITE_IOERR_FSYNC")).toBe("unknown");
    expect(failedCommit(new Error("?")).outcome).toBe("unknown");
  });
});

describe.each([
  ["in the caller's thread", inCaller],
  ["on a thread", openOnThread],
])("a crash right after an answer %s", (_where, open) => {
  it("loses nothing that was answered", async () => {
    const file = tempFile();
    const { backend } = await observed(file, open);
    const changes = many(10);
    await Promise.all(changes.map(backend.store.commit));
    const copy = tempFile();
    for (const suffix of ["", "-wal"]) cpSync(file + suffix, copy + suffix);
    const { backend: survivor } = await observed(copy);
    const rows = await survivor.submissions.list({ tenant: fixtures.TENANT }, { limit: 100 });
    expect(rows).toEqual(changes.map(({ row }) => row).reverse());
    await survivor.close();
    await backend.close();
  });

  it("another process may read meanwhile", async () => {
    const file = tempFile();
    const { backend } = await observed(file, open);
    const reader = openDatabase(file);
    await backend.store.commit(creation({ at: 0 }));
    expect(reader.prepare("SELECT count(*) FROM submissions").pluck().get()).toBe(1);
    reader.close();
    await backend.close();
  });
});
