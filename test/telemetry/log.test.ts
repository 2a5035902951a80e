/** What the log says, of a server as a process. At `trace`, `test/contract/logs.test.ts` looks for secrets on every path. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { idempotencyKey, until } from "../support/moves.ts";
import { type OwnPostgres, ownPostgres } from "../support/services/own-postgres.ts";

/** Anything that moves a terminal's cursor or that some reader takes for the end of a line. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const AGENT = { kind: "agent", id: "bot" };

const linesOf = (server: ServerProcess): Loose[] =>
  server
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

/** Waits for the first line that matches. */
const lineWith = (server: ServerProcess, isIt: (line: Loose) => boolean): Promise<Loose> =>
  until(() => linesOf(server).find(isIt));

async function call(server: ServerProcess, path: string, { body, headers = {}, method = "POST" }: Loose = {}) {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(server.url + path, {
    method: body === undefined && method === "POST" ? "GET" : method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...init,
  });
  const text = await response.text();
  return { status: response.status, body: (text.startsWith("{") ? JSON.parse(text) : {}) as Loose };
}

const create = (server: ServerProcess, { key, ...more }: Loose = {}) =>
  call(server, "/intakes/contact/submissions", {
    body: { actor: AGENT, ...more },
    headers: key === undefined ? {} : { "idempotency-key": idempotencyKey(key) },
  });

describe("on a file", () => {
  const folder = tempFolder();
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServerProcess({
      FORMBRIDGE_DATA: folder.path,
      FORMBRIDGE_LOG_LEVEL: "debug",
      FORMBRIDGE_LOG_SAMPLING: "off",
      FORMBRIDGE_SWEEP_INTERVAL_MS: "100",
      FORMBRIDGE_ALLOW_TEST_HEADERS: "1",
    });
  });
  afterAll(async () => {
    await server.stop();
    folder.remove();
  });

  it("[OBSERVE-LOG-LINE] [AUDIT-F24] a request is one line at info that says what it was about", async () => {
    const { body } = await create(server, {});
    const headers = { "x-request-id": "read-1", "user-agent": "a client" };
    await call(server, `/resume/${body.resumeToken}`, { headers });
    const line = await lineWith(server, ({ requestId }) => requestId === "read-1");
    expect(line).toEqual({
      level: "info",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: "formbridge-api",
      component: "resume-tokens",
      event: "token.accessed",
      method: "GET",
      route: expect.stringContaining("/resume/"),
      status: 200,
      operation: "getSubmission",
      intakeId: "contact",
      submissionId: body.submissionId,
      version: 1,
      tokenHash: expect.stringMatching(/^[0-9a-f]{16}$/),
      actor: { kind: "unknown", ipAddress: "127.0.0.1", userAgent: "a client" },
      durationMs: expect.any(Number),
      outcome: "success",
      requestId: "read-1",
      msg: "answered",
    });
  });

  it("[OBSERVE-LOG-LINE] a conflict is a warning, and a refusal says why", async () => {
    const { body } = await create(server, {});
    const path = `/resume/${body.resumeToken}/fields`;
    const patch = (id: string) =>
      call(server, path, {
        method: "PATCH",
        body: { actor: AGENT, fields: { name: id } },
        headers: { "x-request-id": id },
      });
    await patch("first");
    await patch("late");
    const line = await lineWith(server, ({ requestId }) => requestId === "late");
    expect(line).toMatchObject({
      level: "warn",
      event: "token.conflict",
      outcome: "token_conflict",
      reason: "rotated",
    });
  });

  it("[OBSERVE-LOG-EVENTS] keys leave lines by name: looked up, executed, replayed, in conflict, forgotten", async () => {
    await create(server, { key: "log-one" });
    await create(server, { key: "log-one" });
    await create(server, { key: "log-one", initialFields: { name: "other" } });
    const body = { actor: AGENT };
    const headers = { "idempotency-key": idempotencyKey("log-brief"), "x-idempotency-ttl": "1" };
    await call(server, "/intakes/contact/submissions", { body, headers });
    const expected = {
      "idempotency.cache.lookup": "debug",
      "idempotency.processed": "info",
      "idempotency.replay": "info",
      "idempotency.conflict": "error",
      "idempotency.key.expired": "info",
    };
    for (const [event, level] of Object.entries(expected)) {
      const line = await lineWith(server, (one) => one.event === event);
      expect(line).toMatchObject({ level, component: "idempotency", intakeId: "contact", operation: "create" });
      expect(line.idempotencyKey).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(await lineWith(server, ({ event, what }) => event === "clean-up.done" && what === "records")).toBeDefined();
  });

  it("[OBSERVE-LOG-FORGERY] what a caller sends can't start a new line", async () => {
    const agent = 'evil\u009b31m\u0085{"level":"fatal"}';
    await call(server, "/intakes", { headers: { "user-agent": agent, "x-request-id": "forger" } });
    const output = await until(() => (server.output().includes("forger") ? server.output() : undefined));
    expect(output.replaceAll("\n", "")).not.toMatch(CONTROLS);
    expect(linesOf(server).filter(({ level }) => level === "fatal")).toEqual([]);
  });
});

it("[OBSERVE-LOG-FORGERY] lines for people have no control characters of callers either", async () => {
  const folder = tempFolder();
  const server = await startServerProcess({ FORMBRIDGE_DATA: folder.path, FORMBRIDGE_LOG_FORMAT: "pretty" });
  await call(server, "/intakes", { headers: { "user-agent": "evil\u009b31m", "x-request-id": "for-people" } });
  const { stdout } = await until(() => (server.output().includes("for-people") ? server : undefined)).then((one) =>
    one.stop(),
  );
  folder.remove();
  expect(stdout).toMatch(/INFO.*answered.*for-people/);
  expect(stdout.replaceAll("\n", "")).not.toMatch(CONTROLS);
});

it("[OBSERVE-LOG-OUTAGE] memory: is warned about at the start", async () => {
  const folder = tempFolder();
  const server = await startServerProcess({ FORMBRIDGE_DATA: folder.path, FORMBRIDGE_DATABASE_URL: "memory:" });
  expect(await lineWith(server, ({ event }) => event === "storage.memory")).toMatchObject({ level: "warn" });
  await server.stop();
  folder.remove();
});

describe("a database that goes down", () => {
  const folder = tempFolder();
  let postgres: OwnPostgres;
  let server: ServerProcess;
  beforeAll(async () => {
    postgres = await ownPostgres();
    server = await startServerProcess({
      FORMBRIDGE_DATA: folder.path,
      FORMBRIDGE_DATABASE_URL: postgres.url,
      FORMBRIDGE_SECRET: "the secret of a server that goes down",
      FORMBRIDGE_AUDIT_FLUSH_MS: "600000",
      FORMBRIDGE_SWEEP_INTERVAL_MS: "600000",
    });
  }, 120_000);
  afterAll(async () => {
    await server.kill();
    await postgres.remove();
    folder.remove();
  });

  it("[OBSERVE-LOG-OUTAGE] [AUDIT-F24] is one fatal line, and one when it is back, however many requests fail", async () => {
    expect((await create(server, {})).status).toBe(201);
    await postgres.crash();
    for (let tries = 0; tries < 15; tries++) expect((await create(server, {})).status).toBe(503);
    await postgres.start();
    await until(async () => ((await create(server, {})).status === 201 ? true : undefined), 30_000);
    await lineWith(server, ({ event }) => event === "storage.up");
    const lines = linesOf(server);
    expect(lines.filter(({ event }) => event === "storage.down")).toHaveLength(1);
    expect(lines.filter(({ level }) => level === "fatal")).toHaveLength(1);
    expect(lines.filter(({ event }) => event === "storage.up")).toHaveLength(1);
    expect(server.output()).not.toMatch(/\n {4}at |\\n {4}at /);
    const refused = lines.filter(({ outcome }) => outcome === "service_unavailable");
    expect(refused.length).toBeGreaterThanOrEqual(15);
    expect(refused[0]).toMatchObject({ level: "error", cause: expect.stringMatching(/./) });
  }, 90_000);
});
