import { type RunningServer, readConfig, serve } from "@formbridge/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tempFolder } from "../support/child.ts";
import { caller, minimalIntake } from "../support/harness.ts";
import { connectHost } from "../support/mcp.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/services/postgres.ts";

const ADMIN_KEY = `fbk_${"a".repeat(43)}`;
const folder = tempFolder();
let database: TestDatabase;
let here: RunningServer;
let there: RunningServer;

beforeAll(async () => {
  database = await createMigratedDatabase();
  const config = readConfig({
    FORMBRIDGE_PORT: "0",
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_INTAKES: folder.path,
    FORMBRIDGE_DATABASE_URL: database.url,
    FORMBRIDGE_SECRET: "a secret of every test instance",
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_LOG_LEVEL: "silent",
    FORMBRIDGE_WORKER: "off",
  });
  [here, there] = await Promise.all([serve(config), serve(config)]);
});
afterAll(async () => {
  await Promise.all([here?.stop(), there?.stop()]);
  await database?.drop();
  folder.remove();
});

it("[MCP-LIST-CHANGED] an intake registered on one instance is a tool on the others, and their subscribers are notified", async () => {
  const host = await connectHost(there.url, { key: ADMIN_KEY });
  const names = async () => (await host.tools()).map(({ name }) => name);
  // A notification is a hint and may come without a change, so the list is read after each one.
  const listed: string[][] = [];
  host.client.setNotificationHandler("notifications/tools/list_changed", async () => {
    listed.push(await names());
  });
  const listening = await host.client.listen({ toolsListChanged: true });
  expect(await names()).not.toContain("formbridge_note_create");
  const put = caller(here.url)("PUT", "/intakes/note", { key: ADMIN_KEY, body: minimalIntake("note") });
  expect((await put).status).toBe(201);
  await expect.poll(() => listed.at(-1) ?? [], { timeout: 10_000 }).toContain("formbridge_note_create");
  // Begun on one instance, continued on another: neither keeps any of it.
  const guest = await connectHost(here.url);
  const made = await guest.done("formbridge_note_create", { initialFields: { name: "Ada" } });
  const set = await host.done("formbridge_note_set", { resumeToken: made.resumeToken, fields: { note: "hi" } });
  expect(set.version).toBe(2);
  await listening.close();
  await Promise.all([host.close(), guest.close()]);
});
