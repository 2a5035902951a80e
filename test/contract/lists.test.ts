import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../support/child.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created, setFields, submit } from "../support/moves.ts";

const DAY = 86_400_000;
let server: TestServer;
let ids: string[];
let agentKey: string;
let startedAt: number;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  await server.putIntake({
    id: "secrets",
    schema: {
      type: "object",
      properties: { name: {}, pin: { type: "string", "x-sensitive": true } },
      required: ["name", "pin"],
    },
  });
  agentKey = await server.makeKey({ roles: ["agent"], actor: AGENT });
  await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "watcher" } });
  startedAt = server.clock.now();
  ids = [];
  for (let index = 0; index < 60; index++) {
    const made = await created(server, "forms", { key: index % 3 === 0 ? agentKey : server.adminKey });
    ids.unshift(made.submissionId);
    server.clock.advance(1000);
  }
});
afterAll(() => server.stop());

const list = (query: string, key = server.adminKey) => server.call("GET", `/submissions?${query}`, { key });
const idsOf = (items: Loose[]): string[] => items.map(({ submissionId }) => submissionId as string);

/** All pages, by token alone after the first. */
async function walk(path: string, query: string, between: () => Promise<unknown> = async () => {}): Promise<Loose[]> {
  const found: Loose[] = [];
  let next = query;
  for (;;) {
    const { status, body } = await server.call("GET", `${path}?${next}`, { key: server.adminKey });
    expect(status).toBe(200);
    found.push(...body.items);
    if (body.nextPageToken === undefined) return found;
    next = `pageToken=${body.nextPageToken}`;
    await between();
  }
}

describe("pages", () => {
  it("[LISTS-NEED-A-KEY] without a key a list is a 401", async () => {
    const { resumeToken } = await created(server, "secrets", { body: { initialFields: {} } });
    for (const path of ["/submissions", "/events", "/keys"]) {
      for (const headers of [{}, { "if-match": resumeToken }]) {
        const reply = await server.call("GET", path, { headers });
        expect([reply.status, reply.body.error.type]).toEqual([401, "unauthorized"]);
      }
    }
  });

  it("[LISTS-NEWEST-FIRST] [LISTS-LIMIT-DEFAULT] the 50 newest, newest first", async () => {
    const { body } = await list("intakeId=forms");
    expect(body.ok).toBe(true);
    expect(idsOf(body.items)).toEqual(ids.slice(0, 50));
    expect(idsOf((await list("intakeId=forms&limit=1000")).body.items)).toEqual(ids);
  });

  it("[LISTS-COMPLETE] pages show every item once, while others are added", async () => {
    const items = await walk("/submissions", "intakeId=forms&limit=7", () => created(server, "secrets"));
    expect(idsOf(items)).toEqual(ids);
    const known = new Set(ids);
    const mixed = await walk("/submissions", "limit=7&state=draft", () => created(server, "secrets"));
    expect(idsOf(mixed).filter((id) => known.has(id))).toEqual(ids);
    expect(new Set(idsOf(mixed)).size).toBe(mixed.length);
  });

  it("[LISTS-LAST-PAGE] the last page has no next one, also when it is full", async () => {
    for (const limit of [60, 30, 61, 1000]) {
      const pages: number[] = [];
      let query = `intakeId=forms&limit=${limit}`;
      for (;;) {
        const { body } = await list(query);
        pages.push(body.items.length);
        if (!("nextPageToken" in body)) break;
        query = `pageToken=${body.nextPageToken}`;
      }
      expect(pages).toEqual(limit === 30 ? [30, 30] : [60]);
    }
  });

  it("[LISTS-TOKEN-ENOUGH] [LISTS-TOKEN-MATCH] a token is enough, and other parameters must match it", async () => {
    const { nextPageToken: token } = (await list("intakeId=forms&createdBy=bot&limit=5")).body;
    const alone = (await list(`pageToken=${token}`)).body;
    const beside = (await list(`pageToken=${token}&limit=5&intakeId=forms&createdBy=bot`)).body;
    expect(idsOf(beside.items)).toEqual(idsOf(alone.items));
    expect(alone.items.every(({ createdBy }: Loose) => createdBy.id === "bot")).toBe(true);
    for (const other of ["limit=6", "intakeId=secrets", "createdBy=admin", "state=draft", "fields=true"]) {
      const reply = await list(`pageToken=${token}&${other}`);
      expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
      expect(reply.body.error.message).toContain("pageToken");
    }
  });

  it("[LISTS-TOKEN-TAMPERED] anything not signed by us is a 400", async () => {
    const { nextPageToken: token } = (await list("intakeId=forms&limit=5")).body as { nextPageToken: string };
    const [head = "", payload = "", signature = ""] = token.split(".");
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const wider = encode({ ...claims, query: {} });
    const forged = `${head}.${wider}.${createHmac("sha256", "guess").update(`${head}.${wider}`).digest("base64url")}`;
    const bad = [
      `${head}.${wider}.${signature}`,
      `${encode({ alg: "none" })}.${wider}.`,
      `${encode({ alg: "none" })}.${payload}.${signature}`,
      forged,
      `${head}.${payload}.${signature.slice(0, -2)}`,
      `${head}.${payload}`,
      "nonsense",
      "",
    ];
    for (const attempt of bad) {
      const reply = await list(`pageToken=${attempt}`);
      expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
    }
  });

  it("[LISTS-TOKEN-EXPIRED] a token lives a day", async () => {
    const { nextPageToken: token } = (await list("intakeId=forms&limit=5")).body;
    server.clock.advance(DAY - 2000);
    expect((await list(`pageToken=${token}`)).status).toBe(200);
    server.clock.advance(3000);
    const late = await list(`pageToken=${token}`);
    expect([late.status, late.body.error.type]).toEqual([400, "bad_request"]);
    expect(late.body.error.message).toMatch(/expired/);
  });

  it("[LISTS-TOKEN-EXPIRED] the life of a token is a setting", async () => {
    const short = await startTestServer({ store: "memory", env: { FORMBRIDGE_PAGE_TOKEN_TTL_MS: "60000" } });
    const { nextPageToken: token } = (await short.call("GET", "/intakes?limit=1", { key: short.adminKey })).body;
    short.clock.advance(61_000);
    expect((await short.call("GET", `/intakes?pageToken=${token}`, { key: short.adminKey })).status).toBe(400);
    await short.stop();
  });

  it("[LISTS-TOKEN-OTHER-LIST] a token of one list opens no other", async () => {
    const paths = ["/submissions", "/events", "/intakes", "/keys"];
    const tokens = await Promise.all(
      paths.map(
        async (path) => (await server.call("GET", `${path}?limit=1`, { key: server.adminKey })).body.nextPageToken,
      ),
    );
    for (const [index, token] of tokens.entries()) {
      expect(token).toEqual(expect.any(String));
      for (const [other, path] of paths.entries()) {
        const { status } = await server.call("GET", `${path}?pageToken=${token}`, { key: server.adminKey });
        expect(status).toBe(index === other ? 200 : 400);
      }
    }
  });

  it("[LISTS-TOKEN-OTHER-LIST] [LISTS-LIMIT-DEFAULT] every list refuses the token of another, and a limit outside 1 to 1,000", async () => {
    const { nextPageToken: token } = (await list("limit=1")).body;
    const others = [
      "events",
      "reviews",
      "keys",
      "intakes",
      "handoffs",
      "webhooks",
      "incidents",
      "blocks",
      "deliveries",
    ];
    for (const name of others) {
      const statusOf = async (query: string): Promise<number> =>
        (await server.call("GET", `/${name}?${query}`, { key: server.adminKey })).status;
      const statuses = await Promise.all(["limit=1", "limit=1000"].map(statusOf));
      const refusals = await Promise.all([`pageToken=${token}`, "limit=0", "limit=1001", "limit=1.5"].map(statusOf));
      expect([name, statuses, refusals]).toEqual([name, [200, 200], [400, 400, 400, 400]]);
    }
  });

  it("[LISTS-TOKEN-STATELESS] a token from before a restart works after it; one of another secret does not", async () => {
    const folder = tempFolder();
    const env = { FORMBRIDGE_DATA: folder.path };
    const before = await startTestServer({ env });
    const { body } = await before.call("GET", "/intakes?limit=2", { key: before.adminKey });
    const second = await before.call("GET", `/intakes?pageToken=${body.nextPageToken}`, { key: before.adminKey });
    await before.server.stop();
    const after = await startTestServer({ env });
    const again = await after.call("GET", `/intakes?pageToken=${body.nextPageToken}`, { key: after.adminKey });
    expect(again.body.items).toEqual(second.body.items);
    expect(
      (await server.call("GET", `/intakes?pageToken=${body.nextPageToken}`, { key: server.adminKey })).status,
    ).toBe(400);
    await after.stop();
    folder.remove();
  });

  it("[LISTS-TOKEN-HOLDER] a token of another caller is refused", async () => {
    const { nextPageToken: token } = (await list("intakeId=forms&limit=5")).body;
    const stranger = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" }, tenant: "acme" });
    const colleague = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "admin" } });
    for (const key of [stranger, colleague, agentKey]) expect((await list(`pageToken=${token}`, key)).status).toBe(400);
    expect((await list(`pageToken=${token}`)).status).toBe(200);
    const open = (await server.call("GET", "/intakes?limit=1")).body.nextPageToken;
    expect((await server.call("GET", `/intakes?pageToken=${open}`, { key: server.adminKey })).status).toBe(400);
  });

  it("[LISTS-TOKEN-NO-RIGHTS] a key that was revoked sees no further page", async () => {
    const made = await server.call("POST", "/keys", {
      key: server.adminKey,
      body: { name: "short", roles: ["viewer"], actor: { kind: "human", id: "leaver" } },
    });
    const { nextPageToken: token } = (await list("intakeId=forms&limit=5", made.body.key)).body;
    expect((await list(`pageToken=${token}`, made.body.key)).status).toBe(200);
    await server.call("DELETE", `/keys/${made.body.keyId}`, { key: server.adminKey });
    expect((await list(`pageToken=${token}`, made.body.key)).status).toBe(401);
  });

  it("[LISTS-TOKEN-ONE-REFUSAL] expired, changed, of another list, query or caller: the same response", async () => {
    const { nextPageToken: token } = (await list("intakeId=forms&limit=5")).body as { nextPageToken: string };
    const other = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "other" } });
    const refusals = [
      await list(`pageToken=${token.slice(0, -1)}`),
      await list(`pageToken=${token}=`),
      await list(`pageToken=${token}&limit=6`),
      await list(`pageToken=${token}`, other),
      await server.call("GET", `/events?pageToken=${token}`, { key: server.adminKey }),
    ];
    server.clock.advance(DAY + 1000);
    refusals.push(await list(`pageToken=${token}`));
    expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 400));
    expect(new Set(refusals.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(refusals[0]?.body.error.message).toContain("Start again without it");
  });

  it("[LISTS-TOKEN-RENEWED] paging may take longer than a token lives", async () => {
    let query = "intakeId=forms&limit=20";
    for (let page = 0; page < 3; page++) {
      const { status, body } = await list(query);
      expect(status).toBe(200);
      query = `pageToken=${body.nextPageToken}`;
      server.clock.advance(DAY - 2000);
    }
  });

  it("[LISTS-TOKEN-NOTHING-PERSONAL] a token names neither its holder nor the actor of the filter", async () => {
    const key = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "eve@example.org" } });
    const { nextPageToken: token } = (await list("createdBy=bot&limit=1", key)).body as { nextPageToken: string };
    const [, payload = ""] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    expect(Object.keys(claims).sort()).toEqual([
      "after",
      "aud",
      "cursor",
      "exp",
      "hidden",
      "query",
      "sub",
      "total",
      "ver",
    ]);
    expect(JSON.stringify(claims)).not.toMatch(/bot|eve|key_/);
    expect((await list(`pageToken=${token}&createdBy=bot`, key)).body.items[0].createdBy.id).toBe("bot");
    expect((await list(`pageToken=${token}&createdBy=admin`, key)).status).toBe(400);
  });
});

describe("items and filters", () => {
  it("[LISTS-SUMMARY] [LISTS-NO-TOKENS] an item is a summary, without values and tokens", async () => {
    const made = await created(server, "secrets", { key: agentKey, body: { initialFields: { pin: "1234" } } });
    const { body } = await list("intakeId=secrets&limit=1");
    expect(body.items).toEqual([
      {
        submissionId: made.submissionId,
        intakeId: "secrets",
        state: "in_progress",
        version: 1,
        createdAt: new Date(server.clock.now()).toISOString(),
        updatedAt: new Date(server.clock.now()).toISOString(),
        expiresAt: expect.any(String),
        createdBy: AGENT,
        lastUpdatedBy: AGENT,
        missingCount: 1,
      },
    ]);
    for (const path of [
      "/submissions?fields=true&limit=1000",
      "/keys?limit=1000",
      "/intakes?limit=1000",
      "/events?stream=all&limit=1000",
    ]) {
      expect(JSON.stringify((await server.call("GET", path, { key: server.adminKey })).body)).not.toMatch(/rtok_|fbk_/);
    }
  });

  it("[LISTS-FIELDS] values are included on request, sensitive ones masked", async () => {
    await created(server, "secrets", { body: { initialFields: { name: "Ada", pin: "98765" } } });
    const [item] = (await list("intakeId=secrets&fields=true&limit=1")).body.items;
    expect(item.fields.name).toBe("Ada");
    expect(item.fields.pin).not.toContain("98765");
    expect((await list("intakeId=secrets&fields=false&limit=1")).body.items[0]).not.toHaveProperty("fields");
  });

  it("[LISTS-FILTERS] intake, state and creator, alone and together", async () => {
    await server.putIntake({ id: "filtered" });
    const draft = await created(server, "filtered", { key: agentKey });
    const filled = await created(server, "filtered", { key: agentKey });
    await setFields(server, filled.resumeToken, { name: "Ada" });
    const done = await created(server, "filtered", { key: server.adminKey, body: { initialFields: { name: "Ada" } } });
    await submit(server, done.resumeToken, "filters");
    const find = async (query: string) => idsOf((await list(query)).body.items);
    expect(await find("intakeId=filtered")).toEqual([done, filled, draft].map(({ submissionId }) => submissionId));
    expect(await find("intakeId=filtered&state=draft")).toEqual([draft.submissionId]);
    expect(await find("intakeId=filtered&createdBy=bot")).toEqual([filled.submissionId, draft.submissionId]);
    expect(await find("intakeId=filtered&createdBy=bot&state=in_progress")).toEqual([filled.submissionId]);
    expect(await find("state=finalized")).toEqual([done.submissionId]);
    expect(await find("intakeId=filtered&createdBy=nobody")).toEqual([]);
    expect(await find("intakeId=not-there")).toEqual([]);
  });

  it("[LISTS-TIME-RANGE] from is inclusive, until exclusive", async () => {
    const at = (index: number): string => new Date(startedAt + index * 1000).toISOString();
    const oldestFirst = ids.toReversed();
    const find = async (query: string) =>
      idsOf((await list(`intakeId=forms&limit=1000&${query}`)).body.items).toReversed();
    expect(await find(`from=${at(10)}&until=${at(13)}`)).toEqual(oldestFirst.slice(10, 13));
    expect(await find(`from=${at(57)}`)).toEqual(oldestFirst.slice(57));
    expect(await find(`until=${at(2)}`)).toEqual(oldestFirst.slice(0, 2));
    expect(await find(`from=${at(5)}&until=${at(5)}`)).toEqual([]);
    const paged = await walk("/submissions", `intakeId=forms&from=${at(10)}&until=${at(20)}&limit=3`);
    expect(idsOf(paged).toReversed()).toEqual(oldestFirst.slice(10, 20));
    expect((await list("from=yesterday")).status).toBe(400);
  });

  it("[LISTS-EVENTS] events by intake, stream, type and time", async () => {
    await server.putIntake({ id: "evented" });
    server.clock.advance(1000);
    const from = new Date(server.clock.now()).toISOString();
    const made = await created(server, "evented");
    server.clock.advance(1000);
    const until = new Date(server.clock.now()).toISOString();
    await setFields(server, made.resumeToken, { name: "Ada" });
    const find = async (query: string): Promise<string[]> => {
      const { body } = await server.call("GET", `/events?intakeId=evented&${query}`, { key: server.adminKey });
      return body.items.map(({ type }: Loose) => type);
    };
    expect(await find("")).toEqual(["submission.created", "field.updated"]);
    expect(await find("stream=token")).toEqual(["token.created", "token.updated"]);
    expect(await find("types=field.updated,token.created")).toEqual(["token.created", "field.updated"]);
    expect(await find(`from=${from}&until=${until}`)).toEqual(["submission.created"]);
    expect(await find(`from=${until}`)).toEqual(["field.updated"]);
    const { nextPageToken } = (await server.call("GET", "/events?intakeId=evented&limit=1", { key: server.adminKey }))
      .body;
    const next = await server.call("GET", `/events?pageToken=${nextPageToken}`, { key: server.adminKey });
    expect(next.body.items.map(({ type }: Loose) => type)).toEqual(["field.updated"]);
  });

  it("[LISTS-INTAKES-AND-KEYS] intakes and keys are listed page by page, each once", async () => {
    for (const path of ["/intakes", "/keys"]) {
      const atOnce = (await server.call("GET", `${path}?limit=1000`, { key: server.adminKey })).body.items;
      expect(atOnce.length).toBeGreaterThan(1);
      expect(await walk(path, "limit=1")).toEqual(atOnce);
    }
  });
});
