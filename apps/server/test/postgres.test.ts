import { ConfigError, readConfig } from "@formbridge/server";
import { afterEach, expect, test, vi } from "vitest";
import { runCommand, type ServerProcess, startServerProcess, tempFolder } from "../../../test/support/child.ts";
import type { Reply } from "../../../test/support/harness.ts";
import { createDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { openStream } from "../../../test/support/sse.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000 });

const SECRET = "a secret that instances share";
const ADMIN = `fbk_${"b".repeat(43)}`;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function settings(): Promise<{ database: TestDatabase; env: Record<string, string> }> {
  const folder = tempFolder();
  const database = await createDatabase();
  closers.push(folder.remove, database.close);
  const env = { FORMBRIDGE_DATABASE_URL: database.url, FORMBRIDGE_SECRET: SECRET, FORMBRIDGE_DATA: folder.path };
  return { database, env };
}

async function serving(env: Record<string, string>): Promise<ServerProcess> {
  const server = await startServerProcess({ ...env, FORMBRIDGE_ADMIN_KEY: ADMIN, FORMBRIDGE_LOG_LEVEL: "silent" });
  closers.push(() => server.kill());
  return server;
}

type Answer = Pick<Reply, "status" | "body">;

async function call(server: ServerProcess, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      accept: "application/json",
      ...(body && { "content-type": "application/json" }),
      ...(path.startsWith("/submissions") && { authorization: `Bearer ${ADMIN}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const AGENT = { kind: "agent", id: "bot" };

test("two servers share one database: each reads what the other writes, and refuses stale writes", async () => {
  const { env } = await settings();
  const one = await serving(env);
  const other = await serving(env);
  const made = await call(one, "POST", "/intakes/contact/submissions", {
    actor: AGENT,
    initialFields: { name: "Ada" },
  });
  expect(made.status).toBe(201);
  const path = `/resume/${made.body.resumeToken}`;
  const filled = await call(other, "PATCH", path, { actor: AGENT, fields: { topic: "sales" } });
  expect(filled.body).toMatchObject({ version: 2, fields: { name: "Ada", topic: "sales" } });
  expect((await call(one, "PATCH", path, { actor: AGENT, fields: { topic: "support" } })).body).toMatchObject({
    error: { type: "token_conflict" },
    version: 2,
    resumeToken: filled.body.resumeToken,
  });
  const ready = await call(one, "GET", "/readyz");
  expect(ready.status).toBe(200);
  expect(Math.abs(ready.body.stores?.store?.clockSkewMs ?? 0)).toBeLessThan(1_000);
  expect((await one.stop()).code).toBe(0);
});

test("a reader of one server is woken by a write on the other", async () => {
  const { env } = await settings();
  const [one, other] = [await serving(env), await serving(env)];
  const made = await call(one, "POST", "/intakes/contact/submissions", {
    actor: AGENT,
    initialFields: { name: "Ada" },
  });
  const url = `${other.url}/submissions/${made.body.submissionId}/events`;
  const stream = await openStream(url, { authorization: `Bearer ${ADMIN}` });
  closers.push(stream.close);
  expect((await stream.take(2)).map(({ event }) => event)).toEqual(["submission.created", "field.updated"]);
  await call(one, "PATCH", `/resume/${made.body.resumeToken}`, { actor: AGENT, fields: { topic: "sales" } });
  expect((await stream.take(1)).map(({ event }) => event)).toEqual(["field.updated"]);
});

test("migrate, doctor, keys, verify and events work on it", async () => {
  const { env } = await settings();
  expect(await runCommand(["migrate"], env)).toMatchObject({ code: 0, stdout: "the database is up to date\n" });
  const made = await runCommand(["keys", "create", "--name", "bot", "--role", "agent", "--actor", "agent:bot"], env);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nfbk_/) });
  expect((await runCommand(["keys", "list"], env)).stdout).toContain("agent:bot");
  const server = await serving(env);
  const body = { actor: AGENT, initialFields: { name: "Ada" } };
  const { submissionId } = (await call(server, "POST", "/intakes/contact/submissions", body)).body;
  expect(await runCommand(["verify", "--all"], env)).toMatchObject({ code: 0, stdout: "1 verified\n" });
  const lines = (await runCommand(["events", submissionId], env)).stdout.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).submissionId)).toEqual(lines.map(() => submissionId));
  const doctor = await runCommand(["doctor"], env);
  expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining("store responds in") });
});

test("an unreachable database stops a command with an explanation, without the password", async () => {
  const { env } = await settings();
  const lost = { ...env, FORMBRIDGE_DATABASE_URL: "postgres://user:pa55word@127.0.0.1:1/nowhere" };
  for (const words of [["migrate"], ["serve"], ["doctor"]]) {
    const { code, stdout, stderr } = await runCommand(words, lost);
    expect([code, words]).toEqual([1, words]);
    expect(stdout + stderr).toMatch(/ECONNREFUSED/);
    expect(stdout + stderr).not.toMatch(/pa55word|\n {4}at /);
  }
});

test("the secret must be set, since instances share it", () => {
  const env = { FORMBRIDGE_DATABASE_URL: "postgres://u:p@localhost/x" };
  expect(() => readConfig(env)).toThrow(ConfigError);
  expect(() => readConfig(env)).toThrow(/FORMBRIDGE_SECRET is not set/);
  expect(readConfig({ ...env, FORMBRIDGE_SECRET: SECRET }).database).toMatchObject({ kind: "postgres", poolSize: 10 });
});

test("a password with an @ is not shown when the URL is refused", () => {
  expect(() => readConfig({ FORMBRIDGE_DATABASE_URL: "mysql://root:p@ss@db/x" })).toThrow(/"mysql:\/\/…@db\/x"/);
});

test("[AUDIT-F28] /readyz is 503 as long as the database is read-only, and 200 once it accepts writes", async () => {
  const { env, database } = await settings();
  const server = await serving({ ...env, FORMBRIDGE_RATE_LIMIT: "off" });
  const name = new URL(database.url).pathname.slice(1);
  const configure = async (change: string): Promise<void> => {
    await database.query(`ALTER DATABASE ${name} ${change}`);
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'formbridge'",
    );
  };
  const ready = async (): Promise<number> => (await call(server, "GET", "/readyz")).status;
  const create = (): Promise<Answer> => call(server, "POST", "/intakes/contact/submissions", { actor: AGENT });
  expect(await ready()).toBe(200);
  await configure("SET default_transaction_read_only = on");
  await expect.poll(ready, { timeout: 10_000 }).toBe(503);
  // Long enough for several probes, after the failed writes have opened the circuit breaker.
  const seen = new Set<number>();
  const over = performance.now() + 2_500;
  while (performance.now() < over) {
    expect((await create()).status).toBe(503);
    seen.add(await ready());
  }
  expect([...seen]).toEqual([503]);
  await configure("RESET default_transaction_read_only");
  await expect.poll(ready, { timeout: 10_000 }).toBe(200);
  await expect.poll(async () => (await create()).status, { timeout: 10_000 }).toBe(201);
});
