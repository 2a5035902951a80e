import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Finished, runCommand, tempFolder } from "../../../test/support/child.ts";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";
import { create, created, eventsOf, idempotencyKey, setFields } from "../../../test/support/moves.ts";
import { createMigratedDatabase } from "../../../test/support/services/postgres.ts";
import { newPrefix, redisUrl } from "../../../test/support/services/redis.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000 });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Env = Record<string, string>;

async function postgres(): Promise<Env> {
  const database = await createMigratedDatabase();
  closers.push(database.drop);
  return { FORMBRIDGE_DATABASE_URL: database.url, FORMBRIDGE_SECRET: "a secret of server and commands" };
}

async function postgresBehindRedis(): Promise<Env> {
  return {
    ...(await postgres()),
    FORMBRIDGE_REDIS_URL: await redisUrl(),
    FORMBRIDGE_REDIS_PREFIX: newPrefix(),
    FORMBRIDGE_TOKEN_BACKEND: "hybrid",
    FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis",
  };
}

/** A server, and the commands that an operator runs beside it. */
async function serving(stores: Env): Promise<{ server: TestServer; run: (...args: string[]) => Promise<Finished> }> {
  const folder = tempFolder();
  closers.push(folder.remove);
  const env = { FORMBRIDGE_DATA: folder.path, ...stores };
  const server = await startTestServer({ store: "sqlite", env, fakeClock: false });
  closers.push(() => server.stop());
  await server.putIntake({ id: "forms" });
  return { server, run: (...args) => runCommand(args, env) };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const rows = ({ stdout }: Finished): string[][] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => line.split(/\s{2,}/));
const records = ({ stdout }: Finished): unknown[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const onSqlite = async (): Promise<Env> => ({});

describe.each([
  ["SQLite", onSqlite],
  ["PostgreSQL", postgres],
])("tokens of a submission on %s", (_name, stores) => {
  it("[RUNNING-CLI-TOKENS] are listed and counted by state, and never printed", async () => {
    const { server, run } = await serving(await stores());
    const made = await created(server, "forms");
    const set = await setFields(server, made.resumeToken, { name: "Ada" });
    const path = `/submissions/${made.submissionId}/tokens/reissue`;
    const reissued = await server.call("POST", path, { key: server.adminKey, body: {} });
    const again = await setFields(server, reissued.body.resumeToken, { name: "Eve" });
    const tokens = [made, set.body, reissued.body, again.body].map(({ resumeToken }) => resumeToken as string);
    const [listed, newest, counted, absent] = await Promise.all([
      run("tokens", "list", made.submissionId),
      run("tokens", "list", made.submissionId, "--limit", "1"),
      run("tokens", "count", made.submissionId),
      run("tokens", "count", "sub_none"),
    ]);
    expect(rows(listed).map(([hash, version, , , state]) => [hash, version, state])).toEqual([
      ["hash", "version", "state"],
      ...["current", "rotated", "revoked", "revoked"].map((state, index) => [
        sha256(tokens[3 - index] ?? "").slice(0, 16),
        String(4 - index),
        state,
      ]),
    ]);
    for (const [, , issued = "", expires = ""] of rows(listed).slice(1)) {
      expect(Date.parse(issued)).toBeLessThan(Date.parse(expires));
    }
    expect(rows(newest)).toHaveLength(2);
    expect(newest.stderr).toContain("3 older ones are not shown");
    expect(counted).toMatchObject({ code: 0, stdout: "current 1\nrotated 1\nrevoked 2\nlapsed 0\ntotal 4\n" });
    expect([listed, newest, counted].map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain("rtok_");
    expect(absent).toMatchObject({ code: 1, stdout: "", stderr: "there is no submission sub_none\n" });
  });
});

describe.each([
  ["SQLite", onSqlite],
  ["PostgreSQL", postgres],
  ["PostgreSQL behind Redis", postgresBehindRedis],
])("an idempotency key on %s", (_name, stores) => {
  it("[RUNNING-CLI-IDEMPOTENCY] has a record that is shown without key and response; once deleted, the request is executed again", async () => {
    const { server, run } = await serving(await stores());
    const key = idempotencyKey("once");
    const call = { body: { idempotencyKey: key, initialFields: { name: "Secretive" } } };
    const made = await created(server, "forms", call);
    const replayed = await create(server, "forms", call);
    expect(replayed.body.submissionId).toBe(made.submissionId);
    await setFields(server, made.resumeToken, { name: "Ada" }, { body: { idempotencyKey: key } });

    const both = await run("idempotency", "show", sha256(key).slice(0, 16));
    const common = { tenant: "default", intakeId: "forms", keyHash: sha256(key), submissionId: made.submissionId };
    const state = { submissionState: "in_progress", outcome: "succeeded", status: "live" };
    const times = { recordedAt: expect.stringMatching(/Z$/), expiresAt: expect.stringMatching(/Z$/) };
    expect(records(both)).toEqual([
      { ...common, ...state, ...times, operation: "create", replayCount: 1 },
      { ...common, ...state, ...times, operation: "setFields", replayCount: 0 },
    ]);
    const vague = await run("idempotency", "delete", sha256(key));
    expect(vague).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("several records match") });

    const chosen = ["--intake", "forms", "--operation", "create"];
    const deleted = await run("idempotency", "delete", sha256(key), ...chosen);
    expect(deleted).toMatchObject({ code: 0, stdout: expect.stringMatching(/^deleted {2}/) });
    for (const { stdout, stderr } of [both, vague, deleted]) {
      expect(stdout + stderr).not.toMatch(/once-|Secretive|rtok_/);
    }
    const [noted, ...more] = await eventsOf(server, made.submissionId, "types=idempotency.key.expired");
    expect(more).toEqual([]);
    expect(noted).toMatchObject({
      actor: { kind: "system", id: "operator" },
      payload: { operation: "create", keyHash: sha256(key), replayCount: 1, reason: "explicit_delete" },
    });
    const second = await created(server, "forms", call);
    expect(second.submissionId).not.toBe(made.submissionId);
    const left = records(await run("idempotency", "show", sha256(key)));
    expect(left).toMatchObject([
      { operation: "create", submissionId: second.submissionId },
      { operation: "setFields", submissionId: made.submissionId },
    ]);
    expect(await run("verify", "--all")).toMatchObject({ code: 0, stdout: "2 verified\n" });
  });
});

it("[RUNNING-CLI-TOKENS] a token past its expiry is listed as lapsed", async () => {
  const server = await startTestServer();
  closers.push(() => server.stop());
  await server.putIntake({ id: "forms" });
  const { submissionId } = await created(server, "forms", { body: { ttlMs: 3_600_000 } });
  const where = { tenant: "default", submissionId };
  const statuses = async () =>
    (await server.server.core.operations.listTokens(where, { limit: 10, offset: 0 }))?.map(({ status }) => status);
  expect(await statuses()).toEqual(["current"]);
  server.clock.advance(2 * 3_600_000);
  expect(await statuses()).toEqual(["elapsed"]);
});

it("[RUNNING-CLI-IDEMPOTENCY] a hash that can't be one, and one without a record, are refused in words", async () => {
  const { run } = await serving({});
  const [odd, none] = await Promise.all([
    run("idempotency", "show", "my-key"),
    run("idempotency", "delete", "0".repeat(64)),
  ]);
  expect(odd).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("8 to 64 hexadecimal digits") });
  expect(none).toMatchObject({ code: 1, stdout: "", stderr: "there is no record under this key\n" });
});
