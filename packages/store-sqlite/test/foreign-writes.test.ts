/** What is remembered here is forgotten when a command beside the server has written, and only then. */
import { fixtures } from "@formbridge/conformance";
import { migrate, openDatabase } from "@formbridge/store-sqlite";
import { describe, expect, it } from "vitest";
import { createWriteBatch } from "../src/writer/write-batch.ts";
import { openOnThread } from "./open-on-thread.ts";
import { tempFile } from "./temp-file.ts";

const { creation } = fixtures;
const SOON = { timeout: 2_000, interval: 5 };

async function open() {
  const file = tempFile();
  const backend = await openOnThread({ file, now: () => 0 });
  const key = fixtures.newApiKey();
  await backend.keys.add(key);
  const write = () => backend.store.commit(creation({ at: 0 }));
  const find = () => backend.keys.find(key.hash);
  /** As `formbridge keys revoke` beside the server does. */
  const revoke = () => {
    const other = openDatabase(file);
    other.prepare("UPDATE api_keys SET revoked = 1").run();
    other.close();
  };
  expect(await find()).toEqual(key);
  return { backend, write, find, revoke };
}

/** Writes on and on until `isOver`. */
async function writing(write: () => Promise<unknown>, isOver: () => boolean): Promise<void> {
  while (!isOver()) await Promise.all([write(), write(), write()]);
}

describe("a key that a command revokes is no longer taken", () => {
  it("while the server writes on and on", async () => {
    const { backend, write, find, revoke } = await open();
    let isOver = false;
    const written = writing(write, () => isOver);
    await write();
    revoke();
    await expect.poll(find, SOON).toBeUndefined();
    isOver = true;
    await written;
    await backend.close();
  });

  it("right after the server has written", async () => {
    const { backend, write, find, revoke } = await open();
    await write();
    revoke();
    await expect.poll(find, SOON).toBeUndefined();
    await backend.close();
  });

  it("right before the server writes", async () => {
    const { backend, write, find, revoke } = await open();
    revoke();
    await write();
    await expect.poll(find, SOON).toBeUndefined();
    await backend.close();
  });

  it("when the server has not written for a while, at the first request", async () => {
    const { backend, write, find, revoke } = await open();
    await write();
    // Longer than a look takes to follow the last write.
    const quiet = performance.now() + 100;
    await expect.poll(() => performance.now(), SOON).toBeGreaterThan(quiet);
    revoke();
    const looked = performance.now() + 11;
    await expect.poll(() => performance.now(), SOON).toBeGreaterThan(looked);
    expect(await find()).toBeUndefined();
    await backend.close();
  });
});

it("a writer that has just begun can't know what was written before it, and says so", () => {
  const file = tempFile();
  const [db, other] = [openDatabase(file), openDatabase(file)];
  migrate(db);
  const write = createWriteBatch(db);
  const hasForeignWrites = () => write({ at: 0, orders: [] }).foreign;
  expect([hasForeignWrites(), hasForeignWrites()]).toEqual([true, false]);
  other.pragma("user_version = 1");
  expect([hasForeignWrites(), hasForeignWrites()]).toEqual([true, false]);
  other.close();
  db.close();
});

it("what the server writes itself makes it forget nothing", async () => {
  const { backend, write } = await open();
  const created = creation({ at: 0 });
  await backend.store.commit(created);
  const load = async () =>
    (await backend.store.load({ by: { id: created.row.submission.submissionId, tenant: created.tenant } })).submission;
  const remembered = await load();
  const over = performance.now() + 100;
  await writing(write, () => performance.now() > over);
  expect(await load()).toBe(remembered);
  await backend.close();
});
