import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created } from "../support/moves.ts";

const RITA = { kind: "human", id: "rita" } as const;
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_LIST_COUNT_LIMIT: "10" } });
  for (const id of ["few", "many", "mixed"]) await server.putIntake({ id });
  for (let index = 0; index < 10; index++) await created(server, "few");
  for (let index = 0; index < 14; index++) await created(server, "many");
});
afterAll(() => server.stop());

const list = async (query: string, key = server.adminKey, path = "/submissions"): Promise<Loose> =>
  (await server.call("GET", `${path}?${query}`, { key })).body;
const totalOf = ({ total, totalIsEstimate }: Loose) => [total, totalIsEstimate];

describe("the total of a list", () => {
  it("[LISTS-TOTAL] is on every page, as counted for the first one", async () => {
    const first = await list("intakeId=few&limit=4");
    expect(totalOf(first)).toEqual([10, undefined]);
    await created(server, "few");
    const second = await list(`pageToken=${first.nextPageToken}`);
    expect(totalOf(second)).toEqual([10, undefined]);
    const third = await list(`pageToken=${second.nextPageToken}`);
    expect([third.items.length, ...totalOf(third)]).toEqual([2, 10, undefined]);
    expect(third).not.toHaveProperty("nextPageToken");
  });

  it("[LISTS-TOTAL] of a list of one page is the number of its items", async () => {
    expect(totalOf(await list("intakeId=many&limit=1000"))).toEqual([14, undefined]);
    expect(totalOf(await list("intakeId=none"))).toEqual([0, undefined]);
    for (const path of ["/reviews", "/deliveries"]) {
      expect(totalOf(await list("", server.adminKey, path))).toEqual([0, undefined]);
    }
  });

  it("[LISTS-TOTAL-BOUND] beyond the limit is an estimate, and never less than what was shown", async () => {
    let page = await list("intakeId=many&limit=6");
    expect(totalOf(page)).toEqual([10, true]);
    page = await list(`pageToken=${page.nextPageToken}`);
    expect(totalOf(page)).toEqual([13, true]);
    page = await list(`pageToken=${page.nextPageToken}`);
    expect([page.items.length, ...totalOf(page)]).toEqual([2, 14, true]);
  });

  it("[LISTS-TOTAL] is counted for one filter of intake, state or creator, and absent where rows would have to be read", async () => {
    for (const query of ["", "&intakeId=many", "&state=draft", "&state=expired", "&createdBy=admin"]) {
      const { length } = (await list(`limit=1000${query}`)).items;
      expect((await list(`limit=1${query}`)).total).toBe(Math.min(length, 10));
    }
    for (const query of ["intakeId=many&state=draft", "intakeId=many&from=2000-01-01T00:00:00Z"]) {
      const page = await list(`limit=1&${query}`);
      expect(page.nextPageToken).toBeDefined();
      expect(page).not.toHaveProperty("total");
    }
  });

  it("[LISTS-TOTAL] counts what an API key for some intakes may see", async () => {
    const key = await server.makeKey({ roles: ["viewer"], actor: RITA, intakes: ["few"] });
    const inFew = (await list("intakeId=few&limit=1000")).total;
    expect((await list("limit=1000", key)).total).toBe(inFew);
    expect((await list("limit=3", key)).total).toBe(Math.min(inFew, 10));
    expect(totalOf(await list("intakeId=many&limit=3", key))).toEqual([0, undefined]);
  });

  it("[LISTS-TOTAL] is absent where the caller sees some of what matches, unless one page has it all", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
    await created(server, "mixed", { body: { actor: AGENT } });
    for (let index = 0; index < 3; index++) await created(server, "mixed", { key });
    const page = await list("intakeId=mixed&limit=2", key);
    expect(page.nextPageToken).toBeDefined();
    expect(page).not.toHaveProperty("total");
    const next = await list(`pageToken=${page.nextPageToken}`, key);
    expect(next.items).toHaveLength(1);
    expect(next).not.toHaveProperty("total");
    expect((await list("intakeId=mixed", key)).total).toBe(3);
  });

  it("[LISTS-TOTAL] intakes, keys and webhooks have one too, for those who see all of them", async () => {
    for (const path of ["one", "two"]) {
      const body = { url: `https://example.com/${path}` };
      expect((await server.call("POST", "/webhooks", { key: server.adminKey, body })).status).toBe(201);
    }
    for (const path of ["/intakes", "/keys", "/webhooks"]) {
      const whole = await list("limit=1000", server.adminKey, path);
      expect(whole.total).toBe(whole.items.length);
      const first = await list("limit=1", server.adminKey, path);
      expect([first.items.length, ...totalOf(first)]).toEqual([1, whole.total, undefined]);
      expect((await list(`pageToken=${first.nextPageToken}`, server.adminKey, path)).total).toBe(whole.total);
    }
    const limited = await server.makeKey({ roles: ["admin"], actor: RITA, intakes: ["few"] });
    const page = await list("limit=1", limited, "/intakes");
    expect(page.nextPageToken).toBeDefined();
    expect(page).not.toHaveProperty("total");
  });
});
