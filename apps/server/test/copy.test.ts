import { cpSync } from "node:fs";
import { join } from "node:path";
import { createAesSealer } from "@formbridge/core";
import { openCopyTarget } from "@formbridge/store-postgres";
import { COPY_KINDS, type CopyTarget } from "@formbridge/store-sql";
import { openCopySource } from "@formbridge/store-sqlite";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runCommand, start, tempFolder } from "../../../test/support/child.ts";
import { createMailbox, visitor } from "../../../test/support/handoffs.ts";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";
import { create, created, eventsOf, everything, setFields, submit, until } from "../../../test/support/moves.ts";
import { createDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { copyStore } from "../src/copy-store.ts";
import { fill, type Held, keys } from "./copied-things.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const SUBMISSIONS = process.env.FORMBRIDGE_LONG === "1" ? 50_000 : 1_500;
const SECRET = "the secret of the copied file";
const folder = tempFolder();
const file = join(folder.path, "formbridge.db");
const env = { FORMBRIDGE_DATA: folder.path, FORMBRIDGE_SECRET: SECRET };
const databases: TestDatabase[] = [];
afterAll(async () => {
  for (const database of databases) await database.drop();
  folder.remove();
});

let held: Held;

beforeAll(async () => {
  const post = createMailbox();
  const server = await startTestServer({ store: "sqlite", env, fakeClock: false, mailer: post });
  held = await fill(server, post);
  await server.stop();
  const db = new Database(file, { readonly: true });
  for (const kind of COPY_KINDS) {
    expect(db.prepare(`SELECT count(*) FROM ${kind}`).pluck().get(), `${kind} to copy`).toBeGreaterThan(0);
  }
  db.close();
});

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await createDatabase();
  databases.push(database);
  return database;
}

/** Waits until the database has dropped the killed process's connections. */
const untilAlone = (database: TestDatabase): Promise<true> =>
  until(async () => {
    const sql = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'formbridge'";
    return (await database.query(sql)).length === 0 || undefined;
  });

const copy = (from: string, to: string, secret = SECRET) =>
  runCommand(["copy", "--from", `sqlite:${from}`, "--to", to], { FORMBRIDGE_SECRET: secret });

const serveOn = (database: TestDatabase): Promise<TestServer> =>
  startTestServer({
    store: "memory",
    fakeClock: false,
    env: { FORMBRIDGE_DATABASE_URL: database.url, FORMBRIDGE_SECRET: SECRET },
  });

describe("a file with every kind of thing in it, served from PostgreSQL", () => {
  let target: TestDatabase;
  let server: TestServer;
  beforeAll(async () => {
    target = await emptyDatabase();
    const { code, stdout, stderr } = await copy(file, target.url);
    expect({ code, stdout }, stderr).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+ submissions copied and ver/),
    });
    for (const kind of COPY_KINDS) expect(stderr).toMatch(new RegExp(`${kind}: (\\d+) of \\1\\n`));
    server = await serveOn(target);
  });
  afterAll(() => server.stop());

  it("[STORES-COPY-WHOLE] every list, feed and history is as it was", async () => {
    expect(await everything(server)).toEqual(held.everything);
    for (const [submissionId, history] of held.histories) {
      const now = await eventsOf(server, submissionId, "stream=all&proof=true&limit=1000");
      // Reading a history adds a read audit to it.
      expect(now.slice(0, history.length)).toEqual(history);
    }
    const answers = await Promise.all(
      [held.viewer, held.revoked].map((key) => server.call("GET", "/submissions", { key })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  });

  it("[STORES-COPY-WHOLE] a page token issued by the file's server continues where it stopped", async () => {
    const path = `/events?pageToken=${encodeURIComponent(held.pageToken)}`;
    const [next, all] = await Promise.all(
      [path, "/events?stream=all&limit=10"].map((url) => server.call("GET", url, { key: server.adminKey })),
    );
    expect(next?.body.items).toEqual(all?.body.items.slice(5));
  });

  it("[STORES-COPY-CONTINUES] old idempotency keys replay their responses", async () => {
    const body = { idempotencyKey: keys.create, initialFields: { name: "Ada\u0000", iban: "DE00 1234" } };
    const again = await create(server, "forms", { body });
    expect([again.status, again.body._idempotent, again.body.submissionId]).toEqual([
      200,
      true,
      held.open.submissionId,
    ]);
    const set = await setFields(server, held.open.resumeToken, { name: "Ada" }, { body: { idempotencyKey: keys.set } });
    expect(set.body).toEqual({ ...held.set.body, _idempotent: true });
    const failed = await submit(server, held.empty.resumeToken, keys.failed);
    expect([failed.status, failed.body._idempotent, failed.body.error]).toEqual([422, true, held.failed.body.error]);
  });

  it("[STORES-COPY-CONTINUES] old tokens still work, sealed values included, and their histories verify", async () => {
    const stale = await setFields(server, held.open.resumeToken, { name: "Eve" });
    expect(stale.status).toBe(409);
    const read = await server.call("GET", `/resume/${held.set.body.resumeToken}`);
    expect([read.status, read.body.fields.name]).toEqual([200, "Ada"]);
    const moved = await setFields(server, held.set.body.resumeToken, { name: "Grace" });
    expect(moved.status).toBe(200);
    const done = await submit(server, moved.body.resumeToken, "after-the-copy");
    expect([done.status, done.body.state]).toEqual([200, "finalized"]);
    const filled = await visitor(server, held.handed.submissionId, held.session).fill({ name: "Jane" }, 1);
    expect([filled.status, filled.body.version]).toEqual([200, 2]);
    const decided = await server.call("POST", `/reviews/${held.reviewLink}`, { body: { decision: "approved" } });
    expect([decided.status, decided.body.state]).toEqual([200, "finalized"]);
    const environment = { FORMBRIDGE_DATABASE_URL: target.url, FORMBRIDGE_SECRET: SECRET };
    const verified = await runCommand(["verify", "--all"], environment);
    expect(verified.code, verified.stderr).toBe(0);
    const jobs = await target.query<{ kind: string }>("SELECT kind FROM formbridge.jobs ORDER BY kind");
    expect(jobs.map(({ kind }) => kind)).toEqual(["deliver", "escalate", "lapse", "lapse"]);
  });
});

it("[STORES-COPY-CONTINUES] a webhook continues after a history that was removed before the copy", async () => {
  const own = tempFolder();
  const old = await startTestServer({ store: "sqlite", env: { ...env, FORMBRIDGE_DATA: own.path } });
  await old.putIntake({ id: "forms", retention: { deleteAfterMs: 1_000 } });
  const { resumeToken } = await created(old, "forms");
  await old.call("DELETE", `/resume/${resumeToken}`);
  const hook = { url: "https://example.com/events" };
  const made = await old.call("POST", "/webhooks", { key: old.adminKey, body: hook });
  for (const days of [1, 91]) {
    old.clock.advance(days * 86_400_000);
    await old.server.core.operations.sweep();
  }
  await old.stop();
  const target = await emptyDatabase();
  expect((await copy(join(own.path, "formbridge.db"), target.url)).code).toBe(0);
  const server = await serveOn(target);
  const { submissionId } = await created(server, "forms");
  const { events, webhooks } = server.server.core.backend;
  const [claimed] = await webhooks.claim(1, 1_000);
  expect(claimed?.webhookId).toBe(made.body.webhook.webhookId);
  const after = claimed?.progress.position ?? 0;
  const page = await events.feed({ tenant: "default", streams: ["submission"] }, { after, limit: 10 });
  expect(page.events.map(({ event }) => event.submissionId)).toEqual([submissionId]);
  await server.stop();
  own.remove();
});

describe("refusals and continuation", () => {
  it("[STORES-COPY-AGAIN] a second run finds everything there; another state of the file is refused", async () => {
    const { url } = await emptyDatabase();
    expect((await copy(file, url)).code).toBe(0);
    expect(await copy(file, url)).toMatchObject({ code: 0, stdout: "this file was copied before\n" });
    const changed = join(folder.path, "changed.db");
    cpSync(file, changed);
    const db = new Database(changed);
    db.exec("UPDATE api_keys SET revoked = 1");
    db.close();
    const refused = await copy(changed, url);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("a copy needs an empty database")]);
  });

  it.each(COPY_KINDS)("[STORES-COPY-AGAIN] interrupted in the middle of %s, it continues", async (kind) => {
    const database = await emptyDatabase();
    const options = { url: database.url, connectTimeoutMs: 20_000 };
    const copying = { sealer: createAesSealer([SECRET]), progress: () => {}, verify: async () => {} };
    const once = async (spoil: (target: CopyTarget) => CopyTarget): Promise<boolean> => {
      const [source, target] = [openCopySource(file), await openCopyTarget(options)];
      return await copyStore(source, spoil(target), copying).finally(async () => {
        source.close();
        await target.close();
      });
    };
    const spoiled = once((target) => ({
      ...target,
      async write(which, rows) {
        await target.write(which, rows.slice(0, Math.ceil(rows.length / 2)));
        if (which === kind) throw new Error("the line is cut");
        await target.write(which, rows.slice(Math.ceil(rows.length / 2)));
      },
    }));
    await expect(spoiled).rejects.toThrow("the line is cut");
    await expect(serveOn(database)).rejects.toThrow("has not finished");
    expect(await once((target) => target)).toBe(true);
    const server = await serveOn(database);
    expect(await everything(server)).toEqual(held.everything);
    await server.stop();
  });

  it.each(["events", "webhooks"] as const)(
    "[AUDIT-F29] if the database goes away in the middle of %s, it says to run it again, and then continues",
    async (kind) => {
      const database = await emptyDatabase();
      const target = await openCopyTarget({ url: database.url, connectTimeoutMs: 20_000 });
      const source = openCopySource(file);
      const copying = { sealer: createAesSealer([SECRET]), progress: () => {}, verify: async () => {} };
      const cut = {
        ...target,
        async write(...[which, rows]: Parameters<CopyTarget["write"]>) {
          if (which === kind) {
            await database.query(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'formbridge'",
            );
          }
          await target.write(which, rows);
        },
      };
      await expect(copyStore(source, cut, copying)).rejects.toThrow(/interrupted.*run the same command again/);
      source.close();
      await target.close();
      await untilAlone(database);
      expect(await copy(file, database.url)).toMatchObject({ code: 0 });
    },
  );

  it("[AUDIT-F25] into a database that a command was run on before; its secret check is replaced", async () => {
    const database = await emptyDatabase();
    const other = { FORMBRIDGE_DATABASE_URL: database.url, FORMBRIDGE_SECRET: "a secret that nothing is sealed with" };
    expect((await runCommand(["migrate"], other)).code).toBe(0);
    expect((await copy(file, database.url)).code).toBe(0);
    await (await serveOn(database)).stop();
    expect((await runCommand(["doctor"], other)).code).toBe(1);
  });

  it("[STORES-COPY-AGAIN] killed at any moment, it continues and ends up complete", { timeout: 600_000 }, async () => {
    const own = tempFolder();
    const server = await startTestServer({
      store: "sqlite",
      fakeClock: false,
      env: { ...env, FORMBRIDGE_DATA: own.path },
    });
    await server.putIntake({ id: "forms" });
    for (let round = 0; round < SUBMISSIONS / 100; round++) {
      await Promise.all(Array.from({ length: 100 }, () => created(server, "forms")));
    }
    await server.stop();
    const from = join(own.path, "formbridge.db");
    const database = await emptyDatabase();
    const started = performance.now();
    for (const moment of ["submissions: 1000", "tokens: 1000", "events: 2000", "verifying"]) {
      const args = ["copy", "--from", `sqlite:${from}`, "--to", database.url];
      const running = start(args, { FORMBRIDGE_SECRET: SECRET });
      await until(() => running.stderr().includes(moment) || undefined, 120_000);
      running.child.kill("SIGKILL");
      await running.finished;
      await untilAlone(database);
    }
    const { code, stdout, stderr } = await copy(from, database.url);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `${SUBMISSIONS} submissions copied and verified\n` });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`copy: ${SUBMISSIONS} submissions, killed four times, ${seconds} s\n`);
    own.remove();
  });

  it("[STORES-COPY-REFUSES] a file that a server has open, with an explanation", async () => {
    const own = tempFolder();
    const server = await startTestServer({ store: "sqlite", env: { FORMBRIDGE_DATA: own.path } });
    const { url } = await emptyDatabase();
    const { code, stderr } = await copy(join(own.path, "formbridge.db"), url);
    expect([code, stderr]).toEqual([1, expect.stringContaining("stop the server")]);
    await server.stop();
    own.remove();
  });

  it("[STORES-COPY-REFUSES] a target with its own data, or with a server on it", async () => {
    const database = await emptyDatabase();
    const server = await serveOn(database);
    const busy = await copy(file, database.url);
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("A server is connected")]);
    await server.stop();
    const full = await copy(file, database.url);
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining("data of its own")]);
  });

  it("[STORES-COPY-REFUSES] a different secret, before anything is written", async () => {
    const database = await emptyDatabase();
    const { code, stderr } = await copy(file, database.url, "quite another secret");
    expect([code, stderr]).toEqual([1, expect.stringContaining("FORMBRIDGE_SECRET can't open")]);
    expect((await copy(file, database.url)).code).toBe(0);
  });

  it("[STORES-COPY-WHOLE] it knows every table", () => {
    const db = new Database(file, { readonly: true });
    const tables = db
      .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all();
    db.close();
    expect(tables.filter((name) => name !== "schema_migrations").toSorted()).toEqual(COPY_KINDS.toSorted());
  });
});
