import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, minimalIntake, startTestServer, type TestServer } from "../support/harness.ts";

const ACTOR = { kind: "agent", id: "a" };

describe("what outsiders can learn", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it("neither where a public intake is delivered nor who reviews it", async () => {
    await server.putIntake({
      ...minimalIntake("hooked"),
      destination: { kind: "webhook", url: "https://user:pass@hooks.example.com/T0/B0?api_key=SECRET", secret: "s" },
      eventWebhooks: [{ url: "https://hooks.example.com/e?token=SECRET", secret: "s" }],
      approvalGates: [{ name: "legal", reviewers: { emails: ["rita@example.com"] } }],
    });
    const shown = JSON.stringify((await server.call("GET", "/intakes/hooked")).body);
    expect(shown).not.toMatch(/SECRET|hooks\.example|rita|pass/);
    const toAdmin = JSON.stringify((await server.call("GET", "/intakes/hooked", { key: server.adminKey })).body);
    expect(toAdmin).toContain("https://hooks.example.com/T0/B0");
    expect(toAdmin).not.toMatch(/SECRET|pass/);
  });

  it("[PAGES-DOOR] which intakes are public, and of no other", async () => {
    await server.putIntake({ ...minimalIntake("open-house"), access: "public" });
    await server.putIntake({ ...minimalIntake("members"), access: "key" });
    await server.putIntake({ ...minimalIntake("closed"), access: "public" });
    await server.call("DELETE", "/intakes/closed", { key: server.adminKey });
    const { status, body } = await server.call("GET", "/intakes");
    const ids = body.items.map(({ id }: { id: string }) => id);
    expect([status, ids.includes("open-house"), ids.includes("contact")]).toEqual([200, true, true]);
    expect(body.items.every(({ access, retired }: Loose) => access === "public" && !retired)).toBe(true);
    const withKey = (await server.call("GET", "/intakes", { key: server.adminKey })).body.items;
    expect(withKey.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(["members", "closed"]));
    expect((await server.call("GET", "/intakes", { key: `fbk_${"x".repeat(43)}` })).status).toBe(401);
  });

  it("[PAGES-LANGUAGES] what public intakes are called in their language, as far as they say so", async () => {
    const translations = { pt: { name: "Contato" }, de: { name: "Kontakt", description: "Für Fragen" } };
    await server.putIntake({ ...minimalIntake("ask"), access: "public", name: "Ask us", translations });
    const named = async (query: string) => {
      const { body } = await server.call("GET", `/intakes${query}`);
      const { name, description } = body.items.find(({ id }: Loose) => id === "ask");
      return [name, description];
    };
    expect(await named("")).toEqual(["Ask us", undefined]);
    expect(await named("?language=de-AT")).toEqual(["Kontakt", "Für Fragen"]);
    expect(await named("?language=pt-br")).toEqual(["Contato", undefined]);
    expect(await named("?language=ja")).toEqual(["Ask us", undefined]);
  });

  it("the holder of a revoked token learns when it was revoked, not what happened since", async () => {
    const made = await server.call("POST", "/intakes/contact/submissions", { body: { actor: ACTOR } });
    const { submissionId, resumeToken } = made.body;
    await server.call("POST", `/submissions/${submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
    const first = await server.call("GET", `/resume/${resumeToken}`);
    server.clock.advance(5_000);
    const write = { key: server.adminKey, headers: { "if-match": '"2"' }, body: { fields: { name: "x" } } };
    expect((await server.call("PATCH", `/submissions/${submissionId}/fields`, write)).status).toBe(200);
    const second = await server.call("GET", `/resume/${resumeToken}`);
    expect([second.status, second.body.error.expiredAt]).toEqual([410, first.body.error.expiredAt]);
  });
});

it("a client can't put another address in front of the proxy's", async () => {
  const env = { FORMBRIDGE_TRUST_PROXY: "1", FORMBRIDGE_RATE_LIMIT: "on", FORMBRIDGE_RATE_CREATES_PER_ADDRESS: "5" };
  const server = await startTestServer({ env });
  const statuses: number[] = [];
  for (let round = 0; round < 8; round++) {
    const headers = { "x-forwarded-for": `10.0.0.${round}, 203.0.113.9` };
    statuses.push(
      (await server.call("POST", "/intakes/contact/submissions", { headers, body: { actor: ACTOR } })).status,
    );
  }
  expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
  await server.stop();
});

it("a client that does not read does not keep the server from stopping", async () => {
  const server = await startTestServer({ env: { FORMBRIDGE_STOP_GRACE_MS: "200" } });
  const made = await server.call("POST", "/intakes/contact/submissions", { body: { actor: ACTOR } });
  let token: string = made.body.resumeToken;
  for (let round = 0; round < 8; round++) {
    const body = { actor: ACTOR, fields: { message: String(round).repeat(900_000) } };
    token = (await server.call("PATCH", `/resume/${token}`, { body })).body.resumeToken;
  }
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  socket.write(`GET /resume/${token}/events HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once("readable", () => resolve()));
  await server.stop();
  socket.destroy();
});
