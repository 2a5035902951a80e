import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { handOff, visit } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { bodyOf, connectMcp, done } from "../support/mcp-host.ts";

const LONG = 25_000;
let server: TestServer;
let key: string;
let modern: Client;
let old: Client;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
  [modern, old] = await Promise.all([connectMcp(server, { key }), connectMcp(server, { key, old: true })]);
});
afterAll(async () => {
  await Promise.all([modern, old].map((client) => client?.close()));
  await server?.stop();
});

const STATUS = "formbridge_forms_status";
const begin = (): Promise<Loose> => done(modern, "formbridge_forms_create", {});
const write = (resumeToken: string, name: string): Promise<Loose> =>
  server.call("PATCH", `/resume/${resumeToken}/fields`, { key, body: { fields: { name } } });

/** Waits as a host does; `began` resolves when the server reports that it waits. */
function waitWith(client: Client, args: object, options: { signal?: AbortSignal } = {}) {
  const told: string[] = [];
  let begin: () => void = () => {};
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const onprogress = ({ message }: { message?: string | undefined }) => {
    told.push(message ?? "");
    begin();
  };
  const answer = client
    .callTool({ name: STATUS, arguments: { waitMs: LONG, ...args } }, { onprogress, ...options })
    .then(bodyOf);
  return { began, answer, told };
}

it("[HANDOFF-COMPLETED] [MCP-WAIT] a wait ends when the human says that their part is done, and so does one that begins then", async () => {
  for (const client of [modern, old]) {
    const made = await begin();
    const human = await visit(server, await handOff(server, made.resumeToken));
    const { began, answer } = waitWith(client, { submissionId: made.submissionId });
    await began;
    const { body: done } = await human.call("POST", "/sessions/complete", { body: {} });
    const completedHandoff = { handoffId: done.handoffId, completedAt: done.completedAt };
    expect(await answer).toMatchObject({ version: 1, completedHandoff });
    expect(await waitWith(client, { submissionId: made.submissionId }).answer).toMatchObject({ completedHandoff });
  }
});

it("[MCP-WAIT] [MCP-WAIT-PROGRESS] a wait ends with the write that it waited for, in every revision", async () => {
  for (const client of [modern, old]) {
    for (const by of ["resumeToken", "submissionId"]) {
      const made = await begin();
      const { began, answer, told } = waitWith(client, { [by]: made[by] });
      await began;
      const wrote = await write(made.resumeToken, "Ada");
      const body = await answer;
      expect(body).toMatchObject({
        ok: true,
        version: 2,
        fields: { name: "Ada" },
        resumeToken: wrote.body.resumeToken,
      });
      expect(told.length).toBeGreaterThan(0);
    }
  }
});

it("[MCP-WAIT] a submission that moves to another state, or ends, ends the wait", async () => {
  const made = await begin();
  const moved = waitWith(modern, { submissionId: made.submissionId });
  await moved.began;
  await server.call("POST", `/resume/${made.resumeToken}/validate`, { key, body: {} });
  expect(await moved.answer).toMatchObject({ state: "awaiting_input", version: 1 });
  const ended = waitWith(modern, { submissionId: made.submissionId });
  await ended.began;
  await server.call("DELETE", `/resume/${made.resumeToken}`, { key, body: {} });
  expect(await ended.answer).toMatchObject({ state: "cancelled" });
});

it("[MCP-WAIT-BOUNDS] what has already changed or ended, or a wait that is over, returns at once", async () => {
  const made = await begin();
  const { resumeToken, submissionId } = made;
  const before = performance.now();
  expect(await done(modern, STATUS, { resumeToken, waitMs: 1 })).toMatchObject({ version: 1 });
  const wrote = await write(resumeToken, "Ada");
  expect(await done(modern, STATUS, { resumeToken, waitMs: LONG })).toMatchObject({ version: 2 });
  expect(await done(modern, STATUS, { submissionId, sinceVersion: 1, waitMs: LONG })).toMatchObject({ version: 2 });
  await server.call("DELETE", `/resume/${wrote.body.resumeToken}`, { key, body: {} });
  expect(await done(modern, STATUS, { submissionId, waitMs: LONG })).toMatchObject({ state: "cancelled" });
  expect(performance.now() - before).toBeLessThan(LONG);
  for (const waitMs of [LONG + 1, -1, 1.5, "1"]) {
    const body = bodyOf(await modern.callTool({ name: STATUS, arguments: { submissionId, waitMs } }));
    expect(body).toMatchObject({ ok: false, error: { type: "bad_request" } });
  }
});

it("[MCP-WAIT-LEFT] a client that disconnects leaves no wait behind", async () => {
  const { wakeups } = server.server.core;
  const open = new Set<string>();
  const { subscribe } = wakeups;
  const spy = vi.spyOn(wakeups, "subscribe").mockImplementation((name, wake) => {
    const stop = subscribe.call(wakeups, name, wake);
    open.add(name);
    return () => {
      open.delete(name);
      stop();
    };
  });
  try {
    for (const leave of ["cancels", "closes", "closes, being old"]) {
      const { submissionId } = await begin();
      const gone = new AbortController();
      const client = await connectMcp(server, { key, old: leave.endsWith("old") });
      const { began, answer } = waitWith(client, { submissionId }, { signal: gone.signal });
      const ended = expect(answer).rejects.toThrow();
      await began;
      expect(open.has(submissionId)).toBe(true);
      if (leave === "cancels") gone.abort();
      await client.close();
      await ended;
      await expect.poll(() => open.has(submissionId)).toBe(false);
    }
  } finally {
    spy.mockRestore();
  }
});

it("[MCP-WAIT-LEFT] a server that stops answers pending waits", async () => {
  const stopping = await startTestServer();
  await stopping.putIntake({ id: "forms" });
  const clients = await Promise.all(
    [false, true].map((isOld) => connectMcp(stopping, { key: stopping.adminKey, old: isOld })),
  );
  const waits = await Promise.all(
    clients.map(async (client) => {
      const { submissionId } = await done(client, "formbridge_forms_create", {});
      return waitWith(client, { submissionId });
    }),
  );
  await Promise.all(waits.map(({ began }) => began));
  const before = performance.now();
  const answers = Promise.all(waits.map(({ answer }) => answer));
  await stopping.stop();
  expect(await answers).toMatchObject([
    { ok: true, version: 1 },
    { ok: true, version: 1 },
  ]);
  expect(performance.now() - before).toBeLessThan(LONG / 2);
  await Promise.all(clients.map((client) => client.close()));
});
