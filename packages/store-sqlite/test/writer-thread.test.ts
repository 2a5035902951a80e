import { existsSync, readFileSync } from "node:fs";
import { fixtures } from "@formbridge/conformance";
import type { Change } from "@formbridge/core";
import { migrate, openDatabase, openSqliteBackend } from "@formbridge/store-sqlite";
import { describe, expect, it } from "vitest";
import { createSqliteBackend } from "../src/backend.ts";
import { createWriterThread } from "../src/writer-thread.ts";
import { tempFile } from "./temp-file.ts";

const { creation, update } = fixtures;
const many = (count: number): Change[] => Array.from({ length: count }, () => creation({ at: 0 }));

/** A backend with a thread that is not up yet, and how many batches it was sent. */
function open() {
  const file = tempFile();
  const db = openDatabase(file);
  migrate(db);
  const thread = createWriterThread(file);
  const batches: number[] = [];
  const counted: typeof thread = {
    ...thread,
    send(batch, answered) {
      batches.push(batch.orders.length);
      thread.send(batch, answered);
    },
  };
  const backend = createSqliteBackend(db, { now: () => 0, thread: counted });
  const count = () => db.prepare("SELECT count(*) FROM submissions").pluck().get();
  return { file, db, thread, batches, backend, count };
}

describe("the thread", () => {
  it("is started by many changes, and nobody waits for it", { timeout: 60_000 }, async () => {
    const { backend, thread, batches, count } = open();
    let written = 0;
    while (batches.length === 0) {
      await Promise.all(many(10).map(backend.store.commit));
      written += 10;
      if (written === 40) expect(thread.isUp()).toBe(false);
    }
    expect(written).toBeGreaterThan(50);
    expect(count()).toBe(written);
    await backend.close();
  });

  it("writes everything: changes, and all that is no change, in the order of the calls", async () => {
    const { backend, thread, batches } = open();
    await thread.start();
    const [first, second] = [creation({ at: 0 }), creation({ at: 0 })];
    const key = fixtures.newApiKey();
    await Promise.all([backend.store.commit(first), backend.keys.add(key), backend.store.commit(second)]);
    expect(batches).toEqual([3]);
    expect(await backend.keys.find(key.hash)).toEqual(key);
    await backend.close();
  });

  it("waits alone for a lock that a command holds: who reads is answered", async () => {
    const { backend, thread, file } = open();
    await thread.start();
    const [known, next] = [creation({ at: 0 }), creation({ at: 0 })];
    await backend.store.commit(known);
    const command = openDatabase(file);
    command.exec("BEGIN IMMEDIATE");
    const written = backend.store.commit(next);
    // Their turn comes after the one in which the change was sent.
    await new Promise(setImmediate);
    expect(await backend.submissions.list({ tenant: known.tenant }, { limit: 9 })).toEqual([known.row]);
    command.exec("ROLLBACK");
    command.close();
    expect(await written).toMatchObject({ kind: "committed" });
    await backend.close();
  });

  it("is sent nothing by a worker that finds nothing to do", async () => {
    const { backend, thread, batches } = open();
    await thread.start();
    expect(await backend.jobs.claim({ limit: 9, leaseMs: 9, perLane: 9, busy: new Map() })).toEqual([]);
    expect(await backend.webhooks.claim(9, 9)).toEqual([]);
    expect(await backend.retention.removeErased(0, 9)).toBe(0);
    expect(batches).toEqual([]);
    await backend.close();
  });

  it("loads none of the domain: it is up in a fraction of the time that the server takes", () => {
    const loaded = new Set<string>();
    const follow = (url: URL): void => {
      if (loaded.has(url.href)) return;
      loaded.add(url.href);
      const imports = readFileSync(url, "utf8").matchAll(
        /^import (?!type )(?:[^;]*? from )?"(.+)";$|import\("(.+)"\)/gm,
      );
      for (const [, fixed, dynamic = ""] of imports) {
        const from = fixed ?? dynamic;
        if (from.startsWith(".")) follow(new URL(from, url));
        else loaded.add(from);
      }
    };
    follow(new URL("../src/writer/start-thread.mjs", import.meta.url));
    expect(loaded.size).toBeGreaterThan(10);
    expect([...loaded].filter((from) => from.startsWith("@"))).toEqual([]);
  });
});

describe("closing", () => {
  it("commits and answers what was accepted, and leaves one whole file", async () => {
    const { backend, thread, file } = open();
    await thread.start();
    const answers = Promise.all(many(600).map(backend.store.commit));
    await backend.close();
    expect((await answers).every(({ kind }) => kind === "committed")).toBe(true);
    await expect(backend.store.commit(creation({ at: 0 }))).rejects.toMatchObject({ outcome: "not_applied" });
    expect(existsSync(`${file}-wal`)).toBe(false);
    const again = openDatabase(file);
    expect(again.prepare("SELECT count(*) FROM submissions").pluck().get()).toBe(600);
    again.close();
  });

  it("waits for a thread that is just being started", async () => {
    const { backend, thread } = open();
    void thread.start();
    await backend.store.commit(creation({ at: 0 }));
    await backend.close();
  });
});

describe("a thread that ends by itself", () => {
  it("leaves unknown what it was about to write; the next write is made, and starts another", async () => {
    const { backend, thread, batches } = open();
    await thread.start();
    await Promise.all(many(60).map(backend.store.commit));
    // What it can't read ends it. As many as are sent at once: they are on their way when it ends.
    thread.send({} as never, () => {});
    const lost = await Promise.allSettled(many(16).map(backend.store.commit));
    for (const answer of lost)
      expect(answer).toMatchObject({ reason: { outcome: "unknown", cause: expect.any(Error) } });
    expect(thread.isUp()).toBe(false);

    const next = creation({ at: 0 });
    expect(await backend.store.commit(next)).toMatchObject({ kind: "committed" });
    await expect.poll(thread.isUp, { timeout: 20_000 }).toBe(true);
    const before = batches.length;
    expect(await backend.store.commit(update(next, 0))).toMatchObject({ kind: "committed" });
    expect(batches.length).toBe(before + 1);
    await backend.close();
  });

  it("and can't be started leaves the writing to the caller", async () => {
    const file = tempFile();
    const db = openDatabase(file);
    migrate(db);
    const thread = createWriterThread(`${file}/nowhere`);
    const backend = createSqliteBackend(db, { now: () => 0, thread });
    await thread.start();
    expect(thread.isUp()).toBe(false);
    await Promise.all(many(100).map(backend.store.commit));
    expect(db.prepare("SELECT count(*) FROM submissions").pluck().get()).toBe(100);
    await backend.close();
  });
});

describe("a file in memory", () => {
  it("is written by the caller, however much there is", async () => {
    const backend = openSqliteBackend({ file: ":memory:", now: () => 0, writer: "thread" });
    await Promise.all(many(100).map(backend.store.commit));
    expect(await backend.submissions.list({ tenant: fixtures.TENANT }, { limit: 200 })).toHaveLength(100);
    await backend.close();
  });
});
