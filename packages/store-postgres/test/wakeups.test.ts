import { describeWakeups } from "@formbridge/conformance";
import { createLocalWakeups } from "@formbridge/store-memory";
import { createPostgresWakeups, type SharedWakeups } from "@formbridge/store-postgres";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { optionsFor } from "./open.ts";

let database: TestDatabase;
const open: SharedWakeups[] = [];
beforeAll(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((wakeups) => wakeups.close()));
});
afterAll(() => database.close());

function start(): SharedWakeups {
  const wakeups = createPostgresWakeups(createLocalWakeups(), { ...optionsFor(database.url), reconnectMs: 5 });
  open.push(wakeups);
  return wakeups;
}

const LISTENERS = `FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'formbridge' AND query LIKE 'LISTEN %' AND state = 'idle'`;
const listening = (count: number) =>
  vi.waitFor(async () => expect(await database.query(`SELECT pid ${LISTENERS}`)).toHaveLength(count));

describeWakeups(start);

it("wake readers of other processes, with one notification for many", async () => {
  const [one, other] = [start(), start()];
  await listening(2);
  const [wake, stranger, own] = [vi.fn(), vi.fn(), vi.fn()];
  other.subscribe("sub_1", wake);
  other.subscribe("sub_2", stranger);
  one.subscribe("sub_1", own);
  for (let notice = 0; notice < 50; notice += 1) one.notify("sub_1");
  await vi.waitFor(() => expect(wake).toHaveBeenCalled());
  expect(wake).toHaveBeenCalledTimes(1);
  expect(own).toHaveBeenCalledTimes(50);
  expect(stranger).not.toHaveBeenCalled();
});

it("carry more ids than fit into one notification", async () => {
  const [one, other] = [start(), start()];
  await listening(2);
  const ids = Array.from({ length: 1_000 }, (_, index) => `sub_${String(index).padStart(40, "0")}`);
  const woken = new Set<string>();
  for (const id of ids) other.subscribe(id, () => woken.add(id));
  for (const id of ids) one.notify(id);
  await vi.waitFor(() => expect(woken.size).toBe(ids.length));
});

it("wake every reader after the connection was lost, and send what was not sent", async () => {
  const [one, other] = [start(), start()];
  await listening(2);
  const wake = vi.fn();
  other.subscribe("sub_1", wake);
  await database.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`);
  await vi.waitFor(() => expect(wake).toHaveBeenCalled());
  await listening(2);
  const late = vi.fn();
  other.subscribe("sub_2", late);
  one.notify("sub_2");
  await vi.waitFor(() => expect(late).toHaveBeenCalled());
});
