import { afterEach, describe, expect, it } from "vitest";
import { type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, setFields } from "../support/moves.ts";

let server: TestServer;
afterEach(() => server.stop());

async function start(env: Record<string, string>): Promise<void> {
  server = await startTestServer({ store: "memory", env: { FORMBRIDGE_RATE_LIMIT: "on", ...env } });
  await server.putIntake({ id: "forms" });
}

const guess = (index: number): Promise<Reply> => server.call("GET", `/resume/rtok_${String(index).padStart(43, "A")}`);

function expectLimited(reply: Reply): void {
  expect(reply.status).toBe(429);
  expect(reply.body).toMatchObject({ ok: false, error: { type: "rate_limited", retryable: true } });
  expect(reply.body.error.retryAfterMs).toBeGreaterThan(0);
  expect(Number(reply.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  expect(Number(reply.headers["retry-after"])).toBe(Math.ceil(reply.body.error.retryAfterMs / 1000));
}

describe("failed lookups", () => {
  it("[RUNNING-RATE-LOOKUPS] [RUNNING-RATE-RECOVERS] 10 a second, whatever kind of call guesses", async () => {
    await start({});
    const { submissionId } = await created(server, "forms");
    for (let index = 0; index < 4; index++) expect((await guess(index)).status).toBe(404);
    for (let index = 4; index < 8; index++) {
      const token = `rtok_${String(index).padStart(43, "A")}`;
      expect((await setFields(server, token, { name: "x" })).status).toBe(404);
    }
    const body = { actor: AGENT, resumeToken: `rtok_${"B".repeat(43)}`, fields: { name: "x" } };
    for (let round = 0; round < 2; round++) {
      expect((await server.call("PATCH", `/submissions/${submissionId}/fields`, { body })).status).toBe(404);
    }
    expectLimited(await guess(99));
    expectLimited(await setFields(server, `rtok_${"C".repeat(43)}`, { name: "x" }));
    server.clock.advance(1000);
    expect((await guess(100)).status).toBe(404);
  });

  it("[RUNNING-RATE-LOOKUPS] [RUNNING-RATE-RECOVERS] 100 a minute", async () => {
    await start({});
    for (let index = 0; index < 100; index++) {
      if (index % 10 === 0) server.clock.advance(1000);
      expect((await guess(index)).status).toBe(404);
    }
    server.clock.advance(1000);
    expectLimited(await guess(100));
    server.clock.advance(60_000);
    expect((await guess(101)).status).toBe(404);
  });

  it("[RUNNING-RATE-GOOD-TOKENS] valid and stale tokens are not failed lookups", async () => {
    await start({ FORMBRIDGE_RATE_FAILED_LOOKUPS_PER_SECOND: "2" });
    const { resumeToken } = await created(server, "forms");
    for (let round = 0; round < 5; round++)
      expect((await server.call("GET", `/resume/${resumeToken}`)).status).toBe(200);
    await setFields(server, resumeToken, { name: "Ada" });
    for (let round = 0; round < 5; round++)
      expect((await setFields(server, resumeToken, { name: "x" })).status).toBe(409);
    expect((await guess(1)).status).toBe(404);
  });
});

describe("creates", () => {
  it("[RUNNING-RATE-CREATES] [RUNNING-RATE-ANSWER] per address without a key; nothing is created beyond", async () => {
    await start({ FORMBRIDGE_RATE_CREATES_PER_ADDRESS: "3" });
    for (let round = 0; round < 3; round++) await created(server, "forms");
    expectLimited(await create(server, "forms"));
    const list = await server.call("GET", "/submissions", { key: server.adminKey });
    expect(list.body.items).toHaveLength(3);
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
    expect((await create(server, "forms", { key })).status).toBe(201);
  });

  it("[RUNNING-RATE-NETWORK] a caller can't bypass the limit with another address of its IPv6 network", async () => {
    await start({ FORMBRIDGE_RATE_CREATES_PER_ADDRESS: "2", FORMBRIDGE_TRUST_PROXY: "true" });
    const from = (address: string) => create(server, "forms", { headers: { "x-forwarded-for": address } });
    expect((await from("2001:db8:1:2::1")).status).toBe(201);
    expect((await from("2001:db8:1:2:aaaa::2")).status).toBe(201);
    expectLimited(await from("2001:db8:1:2::3"));
    expect((await from("2001:db8:1:3::1")).status).toBe(201);
  });

  it("[RUNNING-RATE-CREATES] [RUNNING-RATE-RECOVERS] per key, each key on its own", async () => {
    await start({ FORMBRIDGE_RATE_CREATES_PER_KEY: "2" });
    const [one, two] = [
      await server.makeKey({ roles: ["agent"], actor: AGENT }),
      await server.makeKey({ roles: ["agent"], actor: AGENT }),
    ];
    for (let round = 0; round < 2; round++) await created(server, "forms", { key: one });
    expectLimited(await create(server, "forms", { key: one }));
    expect((await create(server, "forms", { key: two })).status).toBe(201);
    server.clock.advance(60_000);
    expect((await create(server, "forms", { key: one })).status).toBe(201);
  });

  it("[RUNNING-RATE-OFF] when disabled, nothing is counted", async () => {
    await start({ FORMBRIDGE_RATE_LIMIT: "off", FORMBRIDGE_RATE_CREATES_PER_ADDRESS: "1" });
    for (let round = 0; round < 5; round++) await created(server, "forms");
    for (let index = 0; index < 30; index++) expect((await guess(index)).status).toBe(404);
  });
});
