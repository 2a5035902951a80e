import { fixtures } from "@formbridge/conformance";
import type { Backend, FeedPage } from "@formbridge/core";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { commitOn, emptied, optionsFor } from "./open.ts";

const { creation, TENANT } = fixtures;

let database: TestDatabase;
let backend: Backend;
beforeAll(async () => {
  database = await createMigratedDatabase();
  backend = await openPostgresBackend(optionsFor(database.url));
});
const clients: Client[] = [];
beforeEach(async () => {
  // A failed test leaves its transactions open, with their locks.
  await Promise.all(clients.splice(0).map((client) => client.end()));
  await emptied(database);
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await backend.close();
  await database.close();
});

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  clients.push(client);
  await client.connect();
  return client;
}

/** A write that has done everything except commit. */
async function slowWrite() {
  const client = await connected();
  await client.query("BEGIN");
  const change = creation({ at: 0 });
  expect(await commitOn(client, change)).toEqual([change.row.submission.submissionId]);
  const end = async (how: "COMMIT" | "ROLLBACK") => {
    await client.query(how);
  };
  return { submissionId: change.row.submission.submissionId, end };
}

async function quickWrite(): Promise<string> {
  const change = creation({ at: 0 });
  expect((await backend.store.commit(change)).kind).toBe("committed");
  return change.row.submission.submissionId;
}

const feed = (after: number, limit = 100): Promise<FeedPage> =>
  backend.events.feed({ tenant: TENANT, streams: ["submission"] }, { after, limit });
const idsOf = ({ events }: FeedPage): string[] => events.map(({ event }) => event.submissionId);

test("a write that commits late holds back later ones, and is not skipped", async () => {
  const before = await quickWrite();
  const slow = await slowWrite();
  const after = [await quickWrite(), await quickWrite()];
  const held = await feed(0);
  expect(idsOf(held)).toEqual([before]);
  const again = await feed(held.position);
  expect(idsOf(again)).toEqual([]);
  expect(await feed(again.position)).toEqual(again);
  await slow.end("COMMIT");
  expect(idsOf(await feed(again.position))).toEqual([slow.submissionId, ...after]);
});

test("a write that is rolled back no longer holds anything back", async () => {
  const slow = await slowWrite();
  const quick = await quickWrite();
  expect(idsOf(await feed(0))).toEqual([]);
  await slow.end("ROLLBACK");
  expect(idsOf(await feed(0))).toEqual([quick]);
});

test("the oldest of several running writes decides", async () => {
  const [first, second] = [await slowWrite(), await slowWrite()];
  await second.end("COMMIT");
  expect(idsOf(await feed(0))).toEqual([]);
  await first.end("COMMIT");
  expect(idsOf(await feed(0))).toEqual([first.submissionId, second.submissionId]);
});

test("a transaction that writes nothing of ours holds nothing back", async () => {
  const other = await connected();
  await other.query("BEGIN");
  await other.query("SELECT pg_current_xact_id()");
  const quick = await quickWrite();
  expect(idsOf(await feed(0))).toEqual([quick]);
});

test("a submission's own events are visible at once, whatever is running elsewhere", async () => {
  const slow = await slowWrite();
  const submissionId = await quickWrite();
  expect(await backend.events.read({ tenant: TENANT, submissionId, streams: ["submission"] }, 10)).toHaveLength(1);
  await slow.end("ROLLBACK");
});

test("a follower sees every event once, in one order, while many write", async () => {
  const writers = Array.from({ length: 8 }, async () => {
    const own: string[] = [];
    for (let written = 0; written < 40; written += 1) own.push(await quickWrite());
    return own;
  });
  let writing = true;
  const written = Promise.all(writers).finally(() => {
    writing = false;
  });
  const seen: string[] = [];
  let after = 0;
  for (let last = false; ; ) {
    const page = await feed(after, 7);
    seen.push(...idsOf(page));
    if (page.position < after) throw new Error("a position went back");
    after = page.position;
    if (last && page.events.length === 0) break;
    last = !writing;
  }
  expect(seen.toSorted()).toEqual((await written).flat().toSorted());
});
