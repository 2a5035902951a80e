import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { runCommand, startServerProcess, tempFolder } from "../../../test/support/child.ts";
import { caller } from "../../../test/support/harness.ts";
import { create, created, setFields } from "../../../test/support/moves.ts";
import { CONFIGS } from "../../../test/support/services/high-availability.ts";
import { createDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { accountFor, endNow, findProgram, freePort, untilPrinted } from "../../../test/support/services/programs.ts";
import { openStream } from "../../../test/support/sse.ts";

vi.setConfig({ testTimeout: 120_000 });

const ADMIN = `fbk_${"b".repeat(43)}`;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** PgBouncer in transaction mode in front of a database, configured as in docs/how-to/high-availability.md. */
async function pooled(change = (config: string): string => config): Promise<{
  database: TestDatabase;
  env: Record<string, string>;
}> {
  const database = await createDatabase();
  const { username, password, port, pathname } = new URL(database.url);
  const listens = await freePort();
  const folder = tempFolder();
  chmodSync(folder.path, 0o755);
  const config = readFileSync(join(CONFIGS, "pgbouncer.ini"), "utf8")
    .replace("port=5000", `port=${port}`)
    .replace("dbname=formbridge", `dbname=${pathname.slice(1)}`)
    .replace("listen_port = 6432", `listen_port = ${listens}`)
    .replaceAll("/etc/pgbouncer", folder.path);
  writeFileSync(join(folder.path, "userlist.txt"), `"${username}" "${password}"\n`, { mode: 0o644 });
  writeFileSync(join(folder.path, "pgbouncer.ini"), change(config), { mode: 0o644 });
  const program = findProgram("pgbouncer", "pgbouncer");
  const pgbouncer = accountFor("postgres").start(program, [join(folder.path, "pgbouncer.ini")]);
  closers.push(database.drop, folder.remove, () => endNow(pgbouncer));
  await untilPrinted(pgbouncer, "process up");
  const env = {
    FORMBRIDGE_DATABASE_URL: `postgres://${username}:${password}@127.0.0.1:${listens}/formbridge`,
    FORMBRIDGE_DATABASE_DIRECT_URL: database.url,
    FORMBRIDGE_SECRET: "a secret that instances share",
    FORMBRIDGE_ADMIN_KEY: ADMIN,
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_LOG_LEVEL: "silent",
    FORMBRIDGE_RATE_LIMIT: "off",
  };
  return { database, env };
}

async function serving(env: Record<string, string>) {
  const server = await startServerProcess(env);
  closers.push(() => server.kill());
  return { adminKey: ADMIN, url: server.url, call: caller(server.url) };
}

test("[STORES-POOLER] servers share connections through a pooler in transaction mode, and wake each other's readers", async () => {
  const { env } = await pooled((config) => config.replace("default_pool_size = 20", "default_pool_size = 3"));
  const [one, other] = [await serving(env), await serving(env)];
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      create(index % 2 ? one : other, "contact", { body: { initialFields: { name: "Ada" } } }),
    ),
  );
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
  const { submissionId, resumeToken } = await created(one, "contact", { body: { initialFields: { name: "Ada" } } });
  const stream = await openStream(`${other.url}/submissions/${submissionId}/events`, {
    authorization: `Bearer ${ADMIN}`,
  });
  closers.push(stream.close);
  await stream.take(2);
  expect((await setFields(one, resumeToken, { topic: "sales" })).status).toBe(200);
  expect((await stream.take(1)).map(({ event }) => event)).toEqual(["field.updated"]);
  expect(await runCommand(["verify", "--all"], env)).toMatchObject({ code: 0, stdout: "41 verified\n" });
});

test("[STORES-POOLER] a pooler whose connections don't sync commits stops the start with an explanation", async () => {
  const { env } = await pooled((config) => config.replace("synchronous_commit = on", "synchronous_commit = off"));
  const { code, stderr } = await runCommand(["serve"], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/must have synchronous_commit = on.*connect_query/);
});
