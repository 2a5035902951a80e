import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "./support/harness.ts";
import { type Front, HARVESTERS, type Harvested, startFront } from "./support/harvesters.ts";
import { until } from "./support/moves.ts";
import { finalize, identifiers, library, resumption } from "./support/oai.ts";
import { createMigratedDatabase, type TestDatabase } from "./support/services/postgres.ts";

const SIZE = 3;
const names = Object.keys(HARVESTERS);
const idsOf = (found: Harvested): string[] => found.map(({ id }) => id.split(":").at(-1) ?? "").sort();
const harvest = async (name: string, url: string): Promise<Harvested> => (await HARVESTERS[name]?.(`${url}/oai`)) ?? [];

const small = { FORMBRIDGE_OAI_PAGE_SIZE: String(SIZE) };

describe("one server", () => {
  let server: TestServer;
  const ids: string[] = [];
  beforeAll(async () => {
    server = await startTestServer({ env: small });
    await server.putIntake(library);
  });
  afterAll(() => server.stop());

  it.each(names)("[OAI-HARVESTERS] %s finds nothing in an empty repository", async (name) => {
    // One of the three reports that as an error.
    const found = await harvest(name, server.url).catch((error: Error) => `${error.message}`);
    if (typeof found === "string") expect(found).toMatch(/noRecordsMatch|no records/i);
    else expect(found).toEqual([]);
  });

  it.each(names)("[OAI-HARVESTERS] %s collects lists that end with a full page, and others", async (name) => {
    const target = [3 * SIZE, 3 * SIZE + 1, 4 * SIZE - 1];
    const lengths = names.indexOf(name) === 0 ? target : [ids.length];
    for (const length of lengths) {
      while (ids.length < length) ids.push(await finalize(server, { title: `No. ${ids.length}`, authors: ["Ada"] }));
      server.clock.advance(1000);
      expect(idsOf(await harvest(name, server.url))).toEqual(ids.toSorted());
    }
  });

  it.each(names)("[OAI-HARVESTERS] [OAI-TOMBSTONES] %s learns of an erased record", async (name) => {
    const gone = ids[names.indexOf(name)] ?? "";
    await server.call("POST", `/submissions/${gone}/erase`, { key: server.adminKey, body: {} });
    server.clock.advance(1000);
    const found = await harvest(name, server.url);
    expect(idsOf(found)).toEqual(ids.toSorted());
    expect(found.find(({ id }) => id.endsWith(gone))?.deleted).toBe(true);
  });
});

describe("two instances in turn, with 503s and a restart on the way", () => {
  let database: TestDatabase;
  let front: Front;
  let instances: TestServer[] = [];
  let restartAt = 0;
  const ids: string[] = [];

  const start = () =>
    startTestServer({
      store: "memory",
      fakeClock: false,
      env: {
        ...small,
        FORMBRIDGE_DATABASE_URL: database.url,
        FORMBRIDGE_SECRET: "a secret of both instances",
        FORMBRIDGE_PUBLIC_URL: front.url,
      },
    });

  /** The instance that is called next goes down, and another one replaces it. */
  async function restart(): Promise<void> {
    const [first, ...others] = instances;
    await first?.server.stop();
    instances = [...others, await start()];
  }

  beforeAll(async () => {
    database = await createMigratedDatabase();
    front = await startFront(
      () => instances.map(({ url }) => url),
      async (count) => {
        if (count === restartAt) await restart();
      },
    );
    instances = [await start(), await start()];
    const [one] = instances;
    if (one === undefined) throw new Error("there are two");
    await one.putIntake(library);
    for (let index = 0; index < 5 * SIZE; index++) ids.push(await finalize(one, { title: `No. ${index}` }));
    const listed = () => one.call("GET", "/oai?verb=ListIdentifiers&metadataPrefix=oai_dc");
    await until(async () => (await listed()).body.includes(`completeListSize="${ids.length}"`));
  });
  afterAll(async () => {
    await front.close();
    for (const instance of instances) await instance.server.stop();
    await database.drop();
  });

  it.each(names)("[OAI-HARVESTERS] %s collects everything", async (name) => {
    restartAt = front.requests() + 3;
    expect(idsOf(await harvest(name, front.url))).toEqual(ids.toSorted());
    expect(front.requests()).toBeGreaterThan(restartAt);
  });
});

describe.each(["sqlite", "postgres"] as const)("a harvest while records change, on %s", (store) => {
  it("[OAI-CHANGING] misses no record that did not change, and none that did", async () => {
    const server = await startTestServer({ store, fakeClock: false, env: { FORMBRIDGE_OAI_PAGE_SIZE: "5" } });
    await server.putIntake(library);
    const still: string[] = [];
    const moving: string[] = [];
    for (let index = 0; index < 40; index++)
      (index % 2 === 0 ? still : moving).push(await finalize(server, { title: `No. ${index}` }));
    const read = async (query: string): Promise<string> =>
      (await server.call("GET", `/oai?verb=ListIdentifiers&${query}`)).body;
    const first = "metadataPrefix=oai_dc";
    await expect.poll(() => read(first)).toContain('completeListSize="40"');

    const added: string[] = [];
    const seen = new Set<string>();
    let query = first;
    let horizon = "";
    // Pages are read while others erase unread records, and add to the end.
    for (;;) {
      const change = async () => {
        const gone = moving.pop();
        if (gone !== undefined)
          await server.call("POST", `/submissions/${gone}/erase`, { key: server.adminKey, body: {} });
        added.push(await finalize(server, { title: "New" }));
      };
      const [page] = await Promise.all([read(query), change(), change()]);
      for (const id of identifiers(page)) seen.add(id);
      horizon = page.match(/<responseDate>(.*)<\/responseDate>/)?.[1] ?? horizon;
      const token = resumption(page)?.token;
      if (token === undefined || token === "") break;
      query = `resumptionToken=${encodeURIComponent(token)}`;
    }
    expect(still.filter((id) => !seen.has(id))).toEqual([]);

    // Whatever changed meanwhile is in the next harvest.
    const last = added.at(-1) ?? "";
    const next = `${first}&from=${horizon}`;
    await expect
      .poll(async () => {
        let found = "";
        for (let more = next; more !== ""; ) {
          const page = await read(more);
          found += page;
          const token = resumption(page)?.token ?? "";
          more = token === "" ? "" : `resumptionToken=${encodeURIComponent(token)}`;
        }
        for (const id of identifiers(found)) seen.add(id);
        return seen.has(last);
      })
      .toBe(true);
    expect(added.filter((id) => !seen.has(id))).toEqual([]);
    await server.stop();
  });
});
