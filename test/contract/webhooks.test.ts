import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";
import { lookAt, newUrl, postWebhook, pushed, sentTo, webhook, written } from "../support/webhooks.ts";

const HOUR = 3_600_000;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

let server: TestServer;
let courier: ScriptedCourier;
let foreign: string;
beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({ courier, env: { FORMBRIDGE_JOB_POLL_MS: "10", FORMBRIDGE_MAX_WEBHOOKS: "12" } });
  for (const id of ["open", "closed"]) await server.putIntake({ id });
  foreign = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "eve" }, tenant: "acme" });
  await server.putIntake({ id: "acme-open" }, foreign);
});
afterAll(() => server.stop());

const call = (method: string, path: string, key = server.adminKey, body: unknown = undefined) =>
  server.call(method, path, { key, ...(body !== undefined && { body }) });
const list = async (key = server.adminKey): Promise<Loose[]> =>
  (await call("GET", "/webhooks?limit=1000", key)).body.items;
const rotate = (id: string, body: object = {}) => call("POST", `/webhooks/${id}/secret`, server.adminKey, body);
const remove = (id: string, key = server.adminKey) => call("DELETE", `/webhooks/${id}`, key);
const refusal = ({ status, body }: { status: number; body: Loose }) => [status, body.ok, body.error?.type];

/** Every way to reach one webhook. */
const onOne = (id: string): [string, string, object?][] => [
  ["GET", `/webhooks/${id}`],
  ["POST", `/webhooks/${id}/enable`, {}],
  ["POST", `/webhooks/${id}/secret`, {}],
  ["DELETE", `/webhooks/${id}`],
];

describe("secrets", () => {
  it("[WEBHOOK-SECRET] a generated one is shown once, and sealed at rest", async () => {
    const reply = await postWebhook(server, { url: newUrl(), intakes: ["open"] });
    expect([reply.status, reply.body.secret]).toEqual([201, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
    const { webhookId, url } = reply.body.webhook;
    expect(webhookId).toMatch(/^whk_/);
    await written(server, "open", 0);
    await pushed(server);
    const [outgoing] = sentTo(courier, url);
    expect(outgoing?.secrets).toEqual([reply.body.secret]);
    const bare = reply.body.secret.slice("whsec_".length);
    const shown = [await call("GET", `/webhooks/${webhookId}`), await list(), outgoing?.body, await server.atRest()];
    expect(JSON.stringify(shown)).not.toContain(bare);
    await remove(webhookId);
  });

  it("[WEBHOOK-SECRET] a given one is used for signing", async () => {
    const { body } = await postWebhook(server, { url: newUrl(), intakes: ["open"], secret: SECRET });
    expect(body.secret).toBe(SECRET);
    await written(server, "open", 0);
    await pushed(server);
    expect(sentTo(courier, body.webhook.url)[0]?.secrets).toEqual([SECRET]);
    await remove(body.webhook.webhookId);
  });

  it("[WEBHOOK-ROTATED] the previous one is used as well for a day, newest first, and never more than five", async () => {
    const { body } = await postWebhook(server, { url: newUrl(), intakes: ["open"] });
    const { webhookId, url } = body.webhook;
    const signedWith = async (): Promise<readonly string[] | undefined> => {
      await written(server, "open", 0);
      await pushed(server);
      return sentTo(courier, url).at(-1)?.secrets;
    };
    const second = await rotate(webhookId);
    expect(second.body).toEqual({
      ok: true,
      webhookId,
      secret: expect.stringMatching(/^whsec_/),
      oldSecretUntil: new Date(server.clock.now() + 24 * HOUR).toISOString(),
    });
    expect(await signedWith()).toEqual([second.body.secret, body.secret]);
    server.clock.advance(12 * HOUR);
    const third = await rotate(webhookId, { secret: SECRET });
    expect(await signedWith()).toEqual([SECRET, second.body.secret, body.secret]);
    server.clock.advance(12 * HOUR);
    expect(await signedWith()).toEqual([SECRET, second.body.secret]);
    server.clock.advance(12 * HOUR);
    expect([third.status, await signedWith()]).toEqual([200, [SECRET]]);
    const racing = await Promise.all(Array.from({ length: 6 }, () => rotate(webhookId)));
    const made = racing.filter(({ status }) => status === 200).map((reply) => reply.body.secret);
    const secrets = await signedWith();
    expect(secrets).toHaveLength(5);
    expect([...made, SECRET]).toEqual(expect.arrayContaining([...(secrets ?? [])]));
    await remove(webhookId);
  });
});

describe("lists", () => {
  it("[WEBHOOK-LISTED] page by page, with their settings and progress, without secrets in URLs", async () => {
    const url = "https://user:password@receiver.invalid/hook?token=hidden";
    const types = ["submission.created", "token.created"];
    const first = await webhook(server, { url, types, intakes: ["open", "closed"] });
    expect(first).toEqual({
      webhookId: first.webhookId,
      url: "https://receiver.invalid/hook",
      types,
      intakes: ["open", "closed"],
      createdAt: new Date(server.clock.now()).toISOString(),
      state: "active",
      failures: 0,
    });
    expect(await lookAt(server, first.webhookId)).toEqual(first);
    const second = await webhook(server);
    const page = await call("GET", "/webhooks?limit=1");
    expect(page.body.items).toEqual([first]);
    const next = await call("GET", `/webhooks?pageToken=${encodeURIComponent(page.body.nextPageToken)}`);
    expect(next.body).toEqual({ ok: true, items: [second], total: 2 });
    for (const { webhookId } of [first, second]) await remove(webhookId);
  });
});

describe("who may", () => {
  it("[WEBHOOK-ADMIN] an admin only", async () => {
    const { webhookId } = await webhook(server);
    const actor = { kind: "human" as const, id: "ada" };
    const others = await server.makeKey({ roles: ["agent", "reviewer", "viewer"], actor });
    const ways: [string, string, object?][] = [
      ["GET", "/webhooks"],
      ["POST", "/webhooks", { url: newUrl() }],
      ...onOne(webhookId),
    ];
    for (const [method, path, body] of ways) {
      expect(refusal(await call(method, path, others, body)), `${method} ${path}`).toEqual([403, false, "forbidden"]);
      const stranger = await server.call(method, path, { ...(body && { body }) });
      expect(refusal(stranger), `${method} ${path}`).toEqual([401, false, "unauthorized"]);
    }
    expect((await remove(webhookId)).status).toBe(200);
  });

  it("[WEBHOOK-ADMIN] of its own tenant: another tenant's does not exist, and gets nothing of ours", async () => {
    const ours = await webhook(server);
    const theirs = await webhook(server, {}, foreign);
    expect(await list(foreign)).toEqual([theirs]);
    expect(await list()).toEqual([ours]);
    for (const [method, path, body] of onOne(ours.webhookId)) {
      const there = await call(method, path, foreign, body);
      const nowhere = await call(method, path.replace(ours.webhookId, "whk_nobody"), foreign, body);
      expect(refusal(there)).toEqual([404, false, "not_found"]);
      expect(there.body).toEqual(nowhere.body);
    }
    await written(server, "open", 0);
    await written(server, "acme-open", 1);
    await pushed(server);
    expect(sentTo(courier, ours.url).map(({ tenant }) => tenant)).toEqual(["default"]);
    expect(sentTo(courier, theirs.url).map(({ tenant }) => tenant)).toEqual(["acme", "acme"]);
    await remove(ours.webhookId);
    await remove(theirs.webhookId, foreign);
  });

  it("[WEBHOOK-ADMIN] with a key for some intakes: of these alone", async () => {
    const actor = { kind: "human" as const, id: "bob" };
    const limited = await server.makeKey({ roles: ["admin"], actor, intakes: ["open"] });
    const wide = await webhook(server, { intakes: ["open", "closed"] });
    for (const intakes of [undefined, ["closed"], ["open", "closed"]]) {
      expect(refusal(await postWebhook(server, { url: newUrl(), ...(intakes && { intakes }) }, limited))).toEqual([
        403,
        false,
        "forbidden",
      ]);
    }
    const own = await webhook(server, { intakes: ["open"] }, limited);
    expect(await list(limited)).toEqual([own]);
    for (const [method, path, body] of onOne(wide.webhookId)) {
      expect((await call(method, path, limited, body)).status).toBe(404);
    }
    expect((await remove(own.webhookId, limited)).status).toBe(200);
    expect((await remove(wide.webhookId)).status).toBe(200);
  });
});

describe("refusals", () => {
  const url = "https://receiver.invalid/x";
  it.each<[string, unknown]>([
    ["no URL", {}],
    ["a text that is no URL", { url: "receiver.invalid" }],
    ["another scheme", { url: "ftp://receiver.invalid" }],
    ["a script", { url: "javascript:alert(1)" }],
    ["a file", { url: "file:///etc/passwd" }],
    ["an empty URL", { url: "" }],
    ["a URL that is too long", { url: `https://receiver.invalid/${"x".repeat(2_000)}` }],
    ["a URL that is a number", { url: 1 }],
    ["an unknown type", { url, types: ["submission.invented"] }],
    ["no type at all", { url, types: [] }],
    ["a type twice", { url, types: ["field.updated", "field.updated"] }],
    ["types as a text", { url, types: "field.updated" }],
    ["an intake that can't be", { url, intakes: ["No Intake"] }],
    ["no intake at all", { url, intakes: [] }],
    ["too many intakes", { url, intakes: Array.from({ length: 101 }, (_, index) => `intake-${index}`) }],
    ["a secret without its prefix", { url, secret: Buffer.alloc(32, 7).toString("base64") }],
    ["a secret that is too short", { url, secret: `whsec_${Buffer.alloc(23, 7).toString("base64")}` }],
    ["a secret that is too long", { url, secret: `whsec_${Buffer.alloc(65, 7).toString("base64")}` }],
    ["a secret that is no base64", { url, secret: `whsec_${"A".repeat(33)}` }],
    ["a key that is not known", { url, tenant: "acme" }],
    ["a list", [{ url }]],
  ])("[WEBHOOK-BAD-INPUT] %s", async (_, body) => {
    const before = await list();
    expect(refusal(await postWebhook(server, body))).toEqual([400, false, "bad_request"]);
    expect(await list()).toEqual(before);
  });

  it("[WEBHOOK-BAD-INPUT] by the ways to one webhook, and by the list", async () => {
    const { webhookId } = await webhook(server);
    const path = `/webhooks/${webhookId}`;
    const bad: [string, string, object?][] = [
      ["GET", `${path}?x=1`],
      ["DELETE", `${path}?x=1`],
      ["POST", `${path}/enable`, { now: true }],
      ["POST", `${path}/secret`, { secret: "mine" }],
      ["POST", `${path}/secret`, { secret: `whsec_${Buffer.alloc(8).toString("base64")}` }],
      ["POST", `${path}/secret`, { other: 1 }],
      ["GET", "/webhooks?limit=0"],
      ["GET", "/webhooks?limit=1001"],
      ["GET", "/webhooks?pageToken=nonsense"],
      ["GET", "/webhooks?state=active"],
    ];
    for (const [method, target, body] of bad) {
      expect(refusal(await call(method, target, server.adminKey, body)), target).toEqual([400, false, "bad_request"]);
    }
    const other = (await call("GET", "/keys?limit=1")).body.nextPageToken;
    expect((await call("GET", `/webhooks?pageToken=${encodeURIComponent(other)}`)).status).toBe(400);
    expect(refusal(await call("PUT", path, server.adminKey, {}))).toEqual([405, false, "method_not_allowed"]);
    expect(await list()).toHaveLength(1);
    await remove(webhookId);
  });

  it("[WEBHOOK-BAD-INPUT] more than a tenant may have; another tenant has its own", async () => {
    const made: string[] = [];
    for (let count = 0; count < 12; count++) made.push((await webhook(server)).webhookId);
    expect(refusal(await postWebhook(server, { url }))).toEqual([409, false, "conflict"]);
    const theirs = await webhook(server, {}, foreign);
    expect((await remove(made[0] ?? "")).status).toBe(200);
    made[0] = (await webhook(server)).webhookId;
    for (const id of made) await remove(id);
    await remove(theirs.webhookId, foreign);
  });
});
