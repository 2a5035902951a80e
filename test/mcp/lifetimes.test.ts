import { afterAll, beforeAll, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import { connectHost, type Host } from "../support/mcp.ts";
import { DAY, HOUR, MINUTE } from "../support/submissions.ts";
import { emptyServer } from "./scene.ts";

let server: TestServer;
let host: Host;

beforeAll(async () => {
  server = await emptyServer({ FORMBRIDGE_MCP_TOOLS: "intake" });
  await server.putIntake({ id: "plain" });
  await server.putIntake({ id: "hour", ttlMs: HOUR });
  await server.putIntake({ id: "day", ttlMs: 30 * DAY, tokens: { ttlMs: DAY } });
  await server.putIntake({ id: "eager", ttlMs: 60 * DAY, tokens: { ttlMs: 365 * DAY } });
  await server.putIntake({ id: "brief", tokens: { ttlMs: MINUTE } });
  host = await connectHost(server.url);
});
afterAll(async () => {
  await host.close();
  await server.stop();
});

const textOf = async (name: string): Promise<string> =>
  (await host.tools()).find((tool: Loose) => tool.name === name)?.description ?? "";

it.each([
  ["plain", "7 days", "7 days", 7 * DAY],
  ["hour", "1 hour", "1 hour", HOUR],
  ["day", "24 hours", "30 days", DAY],
  ["eager", "30 days", "60 days", 30 * DAY],
  ["brief", "1 hour", "7 days", HOUR],
])("[AUDIT-F9] the tools of %s say that a token lives %s and a submission %s", async (id, token, open, ms) => {
  const text = await textOf(`formbridge_${id}_create`);
  expect(text).toContain(`lives ${token},`);
  expect(text).toContain(`stays open for ${open}.`);
  expect(await textOf(`formbridge_${id}_set`)).toContain(`lives ${token})`);
  const made = await host.done(`formbridge_${id}_create`, {});
  expect(Date.parse(made.tokenExpiresAt) - server.clock.now()).toBe(ms);
});
