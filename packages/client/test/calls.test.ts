import { type FieldsOf, FormBridgeError } from "@formbridge/client";
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";
import { HOUR } from "../../../test/support/submissions.ts";
import { type Network, networkTo, refusal } from "./network.ts";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string" },
    amount: { type: "number" },
    tags: { type: "array", items: { enum: ["new", "old"] } },
    address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    paper: { "x-file": { accept: ["*/*"], maxBytes: 10 } },
  },
  required: ["name"],
} as const;
type Order = FieldsOf<typeof SCHEMA>;

let server: TestServer;
let network: Network;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "order", schema: SCHEMA as never, tokens: { ttlMs: HOUR } });
});
afterAll(() => server.stop());
beforeEach(() => {
  network = networkTo(server);
});

const agentKey = () => server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
const submissionsOf = (key: string) => server.call("GET", "/submissions?limit=1000", { key });

describe("calls of the client", () => {
  it("[CLIENT-TYPES] fields have the types of the intake's schema", async () => {
    expectTypeOf<Order>().toEqualTypeOf<{
      name: string;
      amount?: number;
      tags?: ("new" | "old")[];
      address?: { city: string };
      paper?: { uploadId: string; filename?: string; mimeType?: string; sizeBytes?: number; sha256?: string };
    }>();
    const submission = await network.client().create<Order>("order", { amount: 3 });
    expect(submission.missingFields).toEqual(["name"]);
    await submission.set({ name: "Ada", "address.city": "Paris" });
    expectTypeOf(submission.fields.name).toEqualTypeOf<string | undefined>();
    expect(submission.fields).toEqual({ amount: 3, name: "Ada", address: { city: "Paris" } });
    const { state } = await submission.submit();
    expect([state, submission.state, submission.version]).toEqual(["finalized", "finalized", 3]);
  });

  it("[CLIENT-KEY-KEPT] a create whose response is lost is executed once", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "creator" } });
    network.plan("lose_answer", "lose_request");
    const submission = await network.client({ apiKey: key, actor: { kind: "agent", id: "creator" } }).create("order");
    expect(network.sent).toHaveLength(3);
    expect(new Set(network.sent.map(({ body }) => (body as { idempotencyKey: string }).idempotencyKey)).size).toBe(1);
    const { items } = (await submissionsOf(key)).body;
    expect(items.map(({ submissionId }: { submissionId: string }) => submissionId)).toEqual([submission.id]);
  });

  it("[CLIENT-KEY-KEPT] a write whose response is lost is executed once, and the next one builds on it", async () => {
    const submission = await network.client().create<Order>("order");
    network.plan("lose_answer");
    await submission.set({ name: "Ada" });
    expect(submission.version).toBe(2);
    await submission.set({ amount: 1 });
    expect(submission.version).toBe(3);
  });

  it("[CLIENT-KEY-KEPT] a submit whose response is lost returns the first response", async () => {
    const submission = await network.client().create<Order>("order", { name: "Ada" });
    network.plan("lose_answer");
    const answer = await submission.submit();
    expect(answer).toMatchObject({ state: "finalized", version: 2, _idempotent: true });
  });

  it("[CLIENT-TRIES] gives up after three tries, with growing delays", async () => {
    network.plan("lose_request", "lose_request", "lose_request");
    const failed = network.client().create("order");
    await expect(failed).rejects.toMatchObject({ type: "network_error", retryable: true });
    expect(network.sent).toHaveLength(3);
    expect(network.waits).toEqual([500, 1000]);
  });

  it("[CLIENT-TRIES] a try that takes too long is abandoned", async () => {
    network.decide = () => () => new Promise<Response>(() => {});
    const client = network.client({ retry: { timeoutMs: 20, tries: 2 }, fetch: hangingFetch(network) });
    await expect(client.create("order")).rejects.toMatchObject({ type: "timeout" });
    expect(network.sent).toHaveLength(2);
  });

  it("[CLIENT-TRIES] waits as long as the server asks", async () => {
    network.plan(refusal(503, { type: "locked", retryable: true, retryAfterMs: 4000 }), "pass");
    await network.client().create("order");
    expect(network.waits).toEqual([4000]);
  });

  it("[CLIENT-FINAL] a call that can't succeed is not retried", async () => {
    const failed = network.client({ apiKey: await agentKey() }).create("nowhere");
    await expect(failed).rejects.toMatchObject({ type: "not_found", status: 404, retryable: false });
    expect(network.sent).toHaveLength(1);
  });

  it("[CLIENT-FINAL] a call that might have been executed is not repeated without a key", async () => {
    const submission = await network.client().create("order");
    network.plan("lose_answer");
    await expect(submission.handOff()).rejects.toMatchObject({ type: "network_error" });
    expect(network.sent).toHaveLength(2);
    expect(await submission.handoffs()).toHaveLength(1);
  });

  it("[CLIENT-FINAL] a proxy's own error page becomes a readable error", async () => {
    network.decide = () => () => new Response("<h1>Bad gateway</h1>", { status: 502 });
    const failed = network.client().create("order");
    await expect(failed).rejects.toMatchObject({ type: "bad_answer", status: 502 });
    expect(network.sent).toHaveLength(3);
  });

  it("[CLIENT-ABORT] an aborted call ends at once, and is not retried", async () => {
    const abort = new AbortController();
    network.decide = () => () => {
      abort.abort();
      throw new TypeError("fetch failed");
    };
    await expect(network.client().create("order", {}, { signal: abort.signal })).rejects.toBe(abort.signal.reason);
    expect(network.sent).toHaveLength(1);
  });

  it("[CLIENT-TURNS] a program that writes twenty times at once never conflicts with itself", async () => {
    const submission = await network.client().create<Order>("order");
    await Promise.all(Array.from({ length: 20 }, (_, amount) => submission.set({ amount })));
    expect(submission.version).toBe(21);
    expect(network.sent).toHaveLength(21);
    expect(submission.fields).toEqual({ amount: 19 });
  });

  it("[CLIENT-REISSUE] a lapsed token is replaced when the key allows it", async () => {
    const apiKey = await agentKey();
    const submission = await network.client({ apiKey }).create<Order>("order");
    server.clock.advance(2 * HOUR);
    await submission.set({ name: "Ada" });
    expect(submission.fields).toEqual({ name: "Ada" });
    expect((await submission.read()).fields).toEqual({ name: "Ada" });
  });

  it("[CLIENT-REISSUE] without a key a lapsed token is an error that says how to recover", async () => {
    const submission = await network.client().create<Order>("order");
    server.clock.advance(2 * HOUR);
    const failed = submission.set({ name: "Ada" });
    await expect(failed).rejects.toBeInstanceOf(FormBridgeError);
    await expect(failed).rejects.toMatchObject({ type: "token_expired", body: { error: { canRecover: true } } });
  });

  it("[CLIENT-BY-ID] when tokens can't be looked up, a caller with a key uses the id", async () => {
    const submission = await network.client({ apiKey: await agentKey() }).create<Order>("order");
    network.decide = ({ headers, url }) =>
      headers.get("if-match")?.includes("rtok_") || url.includes("rtok_")
        ? refusal(503, { type: "service_unavailable", retryable: true })
        : "pass";
    await submission.set({ name: "Ada" });
    expect((await submission.read()).fields).toEqual({ name: "Ada" });
  });

  it("[CLIENT-SESSION] an app for a person works in a session, without ever holding a token", async () => {
    const submission = await network.client().create<Order>("order");
    const { url } = await submission.handOff();
    const session = new URL(url).searchParams.get("session") ?? "";
    const { submission: theirs } = await network
      .client()
      .openSession<Order>(submission.id, { session, carrier: "header" });
    await theirs.set({ name: "Ada" });
    await theirs.set({ amount: 2 });
    expect(theirs.resumeToken).toBeUndefined();
    expect((await theirs.read()).fields).toEqual({ name: "Ada", amount: 2 });
  });

  it("[CLIENT-TELEMETRY] hooks see every try and no secret", async () => {
    const seen: unknown[] = [];
    const note = (about: unknown) => seen.push(about);
    const apiKey = await agentKey();
    const telemetry = { onRequest: note, onResponse: note, onRetry: note, onRecovery: note };
    const submission = await network.client({ apiKey, telemetry }).create<Order>("order");
    network.plan("lose_answer");
    await submission.set({ name: "Ada" });
    expect(seen.length).toBeGreaterThanOrEqual(6);
    expect(JSON.stringify(seen)).not.toMatch(/rtok_|fbk_|idem_|sub_|Ada/);
  });

  it("[CLIENT-LISTS] lists are read page by page", async () => {
    const client = network.client({ apiKey: server.adminKey });
    for (let made = 0; made < 5; made++) await network.client().create("order");
    const listed = await Array.fromAsync(client.submissions({ limit: 2 }));
    const { items } = (await submissionsOf(server.adminKey)).body;
    expect(listed).toEqual(items);
  });
});

/** Never answers, until it is aborted. */
const hangingFetch =
  ({ sent }: Network): typeof fetch =>
  (input, init = {}) => {
    sent.push({ method: init.method ?? "GET", url: String(input), headers: new Headers(), body: undefined });
    return new Promise((_resolve, reject) => {
      init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  };
