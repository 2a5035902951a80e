/** One trace from an agent's first call to the delivery, across people and processes, as a collector sees it. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createFormBridge, type FormBridge } from "../../apps/server/src/index.ts";
import { startWorkerProcess, tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { rpcRequest } from "../support/mcp.ts";
import { startMcpProcess } from "../support/mcp-process.ts";
import { idempotencyKey, until } from "../support/moves.ts";
import { type CollectedSpan, type Collector, startCollector } from "../support/otlp-collector.ts";
import { createMigratedDatabase } from "../support/services/postgres.ts";

const ADMIN_KEY = `fbk_${"trace".repeat(8)}abc`;
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const AGENT_SPAN = "00f067aa0ba902b7";
const AGENT_TRACE = { traceparent: `00-${TRACE}-${AGENT_SPAN}-01` };
const AGENT = { kind: "agent", id: "bot" };
const JSON_BODY = { "content-type": "application/json" };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A webhook's receiver that keeps the headers. */
async function startReceiver(): Promise<{ url: string; got: IncomingHttpHeaders[] }> {
  const got: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    got.push(request.headers);
    request.resume().on("end", () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => void server.close(resolve).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

async function collector(): Promise<Collector> {
  const started = await startCollector();
  closing.push(started.stop);
  return started;
}

const settingsFor = (endpoint: string, folder: string): Record<string, string> => ({
  FORMBRIDGE_DATA: folder,
  FORMBRIDGE_PORT: "0",
  FORMBRIDGE_LOG_LEVEL: "silent",
  FORMBRIDGE_SECRET: "the secret of a server that is traced",
  FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
  FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1",
  FORMBRIDGE_OTLP_ENDPOINT: endpoint,
  FORMBRIDGE_TRACES_RATIO: "1",
  FORMBRIDGE_OTLP_TRACES_INTERVAL_MS: "20",
});

function newFolder(): string {
  const folder = tempFolder();
  closing.push(folder.remove);
  return folder.path;
}

async function open(settings: Record<string, string>): Promise<FormBridge> {
  const formbridge = await createFormBridge({ settings, intakes: [] });
  closing.push(formbridge.stop);
  return formbridge;
}

const callOn =
  ({ url }: FormBridge) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Loose> => {
    const answer = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && JSON_BODY), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect(answer.status, text).toBeLessThan(300);
    return JSON.parse(text) as Loose;
  };

const intakeSentTo = (url: string) => ({
  id: "vendor",
  version: "1",
  name: "Vendor",
  access: "public",
  schema: { type: "object", properties: { name: { type: "string" }, iban: { type: "string" } }, required: ["name"] },
  destination: { kind: "webhook", url },
});

/** The agent creates and hands over, a human fills in and submits, the agent comes back. Only the agent traces. */
async function playStory(formbridge: FormBridge, receiver: string): Promise<{ secrets: string[] }> {
  const call = callOn(formbridge);
  await call("PUT", "/intakes/vendor", intakeSentTo(receiver), { authorization: `Bearer ${ADMIN_KEY}` });
  const key = idempotencyKey("traced-create");
  const asAgent = { ...AGENT_TRACE, "idempotency-key": key };
  const created = await call("POST", "/intakes/vendor/submissions", { actor: AGENT }, asAgent);
  const { submissionId, resumeToken } = created;
  const handedOff = { actor: AGENT, resumeToken };
  const { url } = await call("POST", `/submissions/${submissionId}/handoffs`, handedOff, AGENT_TRACE);
  const link = /sess_[\w-]{43}/.exec(url)?.[0] ?? "";
  const opened = await call("POST", `/submissions/${submissionId}/sessions`, { session: link, carrier: "header" });
  const asHuman = { authorization: `Bearer ${opened.session}` };
  const path = `/submissions/${submissionId}`;
  const set = { fields: { name: "Ada Canary" }, version: opened.version };
  const { version } = await call("PATCH", `${path}/fields`, set, asHuman);
  const submitKey = idempotencyKey("traced-submit");
  await call("POST", `${path}/submit`, { version }, { ...asHuman, "idempotency-key": submitKey });
  await call("GET", path, undefined, { authorization: `Bearer ${ADMIN_KEY}` });
  return { secrets: [resumeToken, link, opened.session, key, submitKey, "Ada Canary", ADMIN_KEY] };
}

const STORY = [
  ...["createSubmissionWithToken", "createHandoff", "openSession", "validateToken", "fetchSubmission", "setFields"],
  ...["rotateToken", "submit", "getSubmission", "deliver", "send", "store.load", "store.commit"],
];

/** Every span of the story's trace has its parent in it, up to the agent's own. */
function expectOneTree(spans: readonly CollectedSpan[]): void {
  const ids = new Set([AGENT_SPAN, ...spans.map(({ spanId }) => spanId)]);
  expect(spans.filter(({ parentSpanId }) => !ids.has(parentSpanId)).map(({ name }) => name)).toEqual([]);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
}

it.each(["SQLite", "PostgreSQL and a worker of its own"])(
  "[OBSERVE-TRACES] the story of a hand-off is one tree, on %s",
  async (store) => {
    const { url, spans, raw } = await collector();
    const receiver = await startReceiver();
    const settings = settingsFor(url, newFolder());
    if (store !== "SQLite") {
      const database = await createMigratedDatabase();
      closing.push(() => database.drop());
      Object.assign(settings, { FORMBRIDGE_DATABASE_URL: database.url, FORMBRIDGE_WORKER: "off" });
      const worker = await startWorkerProcess({ ...settings, FORMBRIDGE_JOB_POLL_MS: "50" });
      closing.push(worker.kill);
    }
    const formbridge = await open(settings);
    const { secrets } = await playStory(formbridge, receiver.url);
    const story = () => spans.filter(({ traceId }) => traceId === TRACE);
    await until(() => STORY.every((name) => story().some((span) => span.name === name)) || undefined).catch(() => {});
    expect(STORY.filter((name) => !story().some((span) => span.name === name))).toEqual([]);
    expectOneTree(story());
    expect(new Set(story().map(({ role }) => role))).toEqual(
      new Set(store === "SQLite" ? ["embedded"] : ["embedded", "worker"]),
    );
    const sent = story().find(({ name }) => name === "send");
    expect(receiver.got[0]?.traceparent).toBe(`00-${TRACE}-${sent?.spanId}-01`);
    for (const secret of secrets) expect(raw()).not.toContain(secret);
    const byToken = story().find(({ name, attributes }) => name === "validateToken" && "token.hash" in attributes);
    expect(byToken?.attributes["token.hash"]).toMatch(/^[0-9a-f]{16}$/);
    const created = story().find(({ name }) => name === "createSubmissionWithToken");
    expect(created?.attributes).toMatchObject({ operation: "createSubmission", outcome: "ok", "intake.id": "vendor" });
    expect(created?.attributes["idempotency.key_hash"]).toMatch(/^[0-9a-f]{16}$/);
  },
  60_000,
);

it("[OBSERVE-TRACES] a call that names another trace stays in it, and is linked to the hand-off's", async () => {
  const { url, spans } = await collector();
  const formbridge = await open(settingsFor(url, newFolder()));
  const call = callOn(formbridge);
  const receiver = await startReceiver();
  await call("PUT", "/intakes/vendor", intakeSentTo(receiver.url), { authorization: `Bearer ${ADMIN_KEY}` });
  const { submissionId, resumeToken } = await call("POST", "/intakes/vendor/submissions", { actor: AGENT });
  await call("POST", `/submissions/${submissionId}/handoffs`, { actor: AGENT, resumeToken });
  await call("GET", `/resume/${resumeToken}`, undefined, AGENT_TRACE);
  await call("GET", `/resume/${resumeToken}`, undefined, { traceparent: "not a traceparent" });
  const reads = await until(() => {
    const found = spans.filter(({ name }) => name === "getSubmission");
    return found.length === 2 ? found : undefined;
  });
  const handoff = spans.find(({ name }) => name === "createHandoff");
  expect(reads[0]).toMatchObject({ traceId: TRACE, parentSpanId: AGENT_SPAN, links: [handoff?.traceId] });
  expect(reads[1]).toMatchObject({ traceId: handoff?.traceId, parentSpanId: handoff?.spanId, links: [] });
});

it("[OBSERVE-TRACES] conflicts and refusals are spans that failed, with the type of the error only", async () => {
  const { url, spans } = await collector();
  const formbridge = await open(settingsFor(url, newFolder()));
  const call = callOn(formbridge);
  const receiver = await startReceiver();
  await call("PUT", "/intakes/vendor", intakeSentTo(receiver.url), { authorization: `Bearer ${ADMIN_KEY}` });
  const { resumeToken } = await call("POST", "/intakes/vendor/submissions", { actor: AGENT });
  const write = { actor: AGENT, fields: { name: "x" } };
  await call("PATCH", `/resume/${resumeToken}/fields`, write);
  const stale = { method: "PATCH", headers: { ...JSON_BODY, ...AGENT_TRACE }, body: JSON.stringify(write) };
  expect((await fetch(`${formbridge.url}/resume/${resumeToken}/fields`, stale)).status).toBe(409);
  const conflict = await until(() => spans.find(({ name }) => name === "resolveConflict"));
  expect(conflict).toMatchObject({ traceId: TRACE, attributes: { "token.attempted_version": 1, "token.version": 2 } });
  const refused = spans.find(({ name, traceId }) => name === "setFields" && traceId === TRACE);
  expect(refused).toMatchObject({ failed: true, attributes: { outcome: "token_conflict" } });
});

it("[OBSERVE-TRACES] tools are traced from the message's own traceparent, over HTTP and by formbridge mcp", async () => {
  const { url, spans } = await collector();
  const formbridge = await open(settingsFor(url, newFolder()));
  const { headers, body } = rpcRequest("tools/call", { name: "formbridge_list_intakes", arguments: {} });
  const message = body as { params: { _meta?: object } };
  message.params._meta = { ...message.params._meta, ...AGENT_TRACE };
  await callOn(formbridge)("POST", "/mcp", message, { ...headers, authorization: `Bearer ${ADMIN_KEY}` });
  const tool = await until(() => spans.find(({ name }) => name.startsWith("tool ")));
  expect(tool).toMatchObject({ traceId: TRACE, parentSpanId: AGENT_SPAN });
  expect(spans.some(({ parentSpanId }) => parentSpanId === tool.spanId)).toBe(true);
  const host = await startMcpProcess({ ...settingsFor(url, newFolder()), FORMBRIDGE_LOG_LEVEL: "warn" });
  closing.push(host.stop);
  await host.create("contact", { name: "Ada" });
  const made = await until(() =>
    spans.find(({ name, role }) => name === "createSubmissionWithToken" && role === "mcp"),
  );
  expect(spans.find(({ spanId }) => spanId === made.parentSpanId)?.name).toMatch(/^tool /);
}, 60_000);

it("[OBSERVE-TRACES] nothing is sent for a trace that its caller does not sample, and little at a small ratio", async () => {
  const { url, spans } = await collector();
  const formbridge = await open({ ...settingsFor(url, newFolder()), FORMBRIDGE_TRACES_RATIO: "0.000001" });
  const call = callOn(formbridge);
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  for (let turn = 0; turn < 20; turn++) await call("GET", "/intakes", undefined, headers);
  await call("GET", "/intakes", undefined, { ...headers, traceparent: `00-${TRACE}-${AGENT_SPAN}-00` });
  await call("GET", "/intakes", undefined, { ...headers, ...AGENT_TRACE });
  await until(() => spans.find(({ name }) => name === "listIntakes"));
  expect(spans.filter(({ name }) => name === "listIntakes").map(({ traceId }) => traceId)).toEqual([TRACE]);
});

it.each(["hangs", "is down"])(
  "[OBSERVE-PUSH] a collector of traces that %s slows nobody down and fills no memory",
  async (how) => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const close = () => new Promise((resolve) => void silent.close(resolve).closeAllConnections());
    if (how === "is down") await close();
    else closing.push(close);
    const formbridge = await open(settingsFor(endpoint, newFolder()));
    const call = callOn(formbridge);
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    for (let turn = 0; turn < 100; turn++) await call("GET", "/intakes", undefined, headers);
    const before = process.memoryUsage().heapUsed;
    for (let turn = 0; turn < 500; turn++) await call("GET", "/intakes", undefined, headers);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
    const began = performance.now();
    closing.splice(closing.indexOf(formbridge.stop), 1);
    await formbridge.stop();
    expect(performance.now() - began).toBeLessThan(8_000);
  },
);
