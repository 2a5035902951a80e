import type { Courier, OutgoingDelivery, Receipt } from "@formbridge/core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { eventsOf } from "../support/moves.ts";
import { lookAt, onceSo, pushed, webhook, written } from "../support/webhooks.ts";

const HOUR = 3_600_000;
const ACCEPTED: Receipt = { kind: "accepted", status: 204 };
const REFUSED: Receipt = { kind: "failed", error: "The webhook answered 422.", status: 422 };

let server: TestServer;
let intakes = 0;
/** What the receiver refuses, and everything that it was sent. */
const poisoned = new Set<string>();
const sent: OutgoingDelivery[] = [];
const courier: Courier = {
  async send(outgoing) {
    sent.push(outgoing);
    return poisoned.has(outgoing.submissionId) || poisoned.has(outgoing.deliveryId) ? REFUSED : ACCEPTED;
  },
  close: async () => {},
};

beforeAll(async () => {
  server = await startTestServer({ courier, env: { FORMBRIDGE_JOB_POLL_MS: "10" } });
});
afterAll(() => server.stop());
beforeEach(() => {
  poisoned.clear();
  sent.length = 0;
});

async function hooked(): Promise<{ intake: string; webhookId: string }> {
  intakes += 1;
  const intake = `blocked-${intakes}`;
  expect((await server.putIntake({ id: intake })).status).toBe(201);
  return { intake, webhookId: (await webhook(server, { intakes: [intake] })).webhookId };
}

const historyIds = async (id: string): Promise<string[]> =>
  (await eventsOf(server, id, "limit=1000")).map(({ eventId }: Loose) => eventId);
const sentOf = (submissionId: string): string[] =>
  sent.filter((outgoing) => outgoing.submissionId === submissionId).map(({ deliveryId }) => deliveryId);
const post = (webhookId: string, what: string, body: object = {}, key = server.adminKey): Promise<Reply> =>
  server.call("POST", `/webhooks/${webhookId}/${what}`, { key, body });

/** A submission whose second event the receiver refuses, retried until it is given up. */
async function deadEvent(intake: string, webhookId: string): Promise<{ submissionId: string; eventId: string }> {
  const submissionId = await written(server, intake, 0);
  await pushed(server);
  poisoned.add(submissionId);
  const [first] = await historyIds(submissionId);
  const reply = await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey });
  const { resumeToken } = reply.body;
  for (const name of ["one", "two"]) {
    const current = (await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey })).body;
    await server.call("PATCH", `/resume/${current.resumeToken}`, {
      body: { fields: { name }, actor: { kind: "agent", id: "bot" } },
    });
  }
  expect(resumeToken).toBeDefined();
  for (let attempt = 1; attempt <= 10; attempt++) {
    await onceSo(server, webhookId, ({ blocked }) => blocked?.[0]?.failures === attempt);
    server.clock.advance(6 * HOUR);
  }
  const [, eventId] = await historyIds(submissionId);
  const over = await lookAt(server, webhookId);
  expect(over).toMatchObject({ state: "active", blocked: [{ submissionId, eventId, failures: 10, dead: true }] });
  expect(sentOf(submissionId)).toEqual([first, ...Array(10).fill(eventId)]);
  return { submissionId, eventId: eventId ?? "" };
}

describe("[AUDIT-F32] an event that the receiver refuses", () => {
  it("delays only its own submission, however many events the others write, and disables nothing", async () => {
    const { intake, webhookId } = await hooked();
    const { submissionId } = await deadEvent(intake, webhookId);
    const others: string[] = [];
    for (let batch = 0; batch < 8; batch++) {
      others.push(...(await Promise.all(Array.from({ length: 20 }, () => written(server, intake, 4)))));
    }
    await pushed(server);
    for (const other of others) expect(sentOf(other)).toEqual(await historyIds(other));
    expect(await lookAt(server, webhookId)).toMatchObject({
      state: "active",
      failures: 0,
      blocked: [{ submissionId }],
    });
  }, 60_000);

  it("[AUDIT-F39] can be skipped: its submission continues with the next one", async () => {
    const { intake, webhookId } = await hooked();
    const { submissionId, eventId } = await deadEvent(intake, webhookId);
    poisoned.clear();
    expect((await post(webhookId, "skip", { eventId: "evt_nobody" })).status).toBe(404);
    const reply = await post(webhookId, "skip");
    expect([reply.status, reply.body.skipped]).toEqual([200, [eventId]]);
    await onceSo(server, webhookId, ({ blocked }) => blocked === undefined);
    await pushed(server);
    const [first, , ...rest] = await historyIds(submissionId);
    expect(sentOf(submissionId).filter((id) => id !== eventId)).toEqual([first, ...rest]);
    const more = await written(server, intake, 1);
    await pushed(server);
    expect(sentOf(more)).toEqual(await historyIds(more));
  });

  it("[AUDIT-F39] can be replayed: it is sent again, and what waits after it", async () => {
    const { intake, webhookId } = await hooked();
    const { submissionId, eventId } = await deadEvent(intake, webhookId);
    poisoned.clear();
    const reply = await post(webhookId, "replay", { eventId });
    expect([reply.status, reply.body]).toEqual([
      200,
      { ok: true, webhookId, queued: [eventId], sent: 0, failed: [], notTried: 0 },
    ]);
    await onceSo(server, webhookId, ({ blocked }) => blocked === undefined);
    await pushed(server);
    const history = await historyIds(submissionId);
    expect(sentOf(submissionId).slice(-(history.length - 1))).toEqual(history.slice(1));
  });
});

describe("[AUDIT-F39] an operator", () => {
  it("sends a test message, and sees its outcome", async () => {
    const { webhookId } = await hooked();
    const taken = await post(webhookId, "test");
    expect([taken.status, taken.body]).toEqual([
      200,
      {
        ok: true,
        webhookId,
        messageId: sent[0]?.deliveryId,
        accepted: true,
        latencyMs: expect.any(Number),
        status: 204,
      },
    ]);
    expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({ type: "webhook.test", data: { webhookId } });
    poisoned.add("");
    const refused = await post(webhookId, "test");
    expect(refused.body).toMatchObject({
      accepted: false,
      status: 422,
      error: REFUSED.kind === "failed" && REFUSED.error,
    });
    expect(await lookAt(server, webhookId)).toMatchObject({ state: "active", failures: 0 });
  });

  it("sends a submission's events, one of them, or a range again, under their ids", async () => {
    const { intake, webhookId } = await hooked();
    const began = new Date(server.clock.now()).toISOString();
    const [one, other] = [await written(server, intake), await written(server, intake)];
    await pushed(server);
    server.clock.advance(1_000);
    const until = new Date(server.clock.now()).toISOString();
    await written(server, intake);
    await pushed(server);
    sent.length = 0;
    const [, second] = await historyIds(one);
    expect((await post(webhookId, "replay", { submissionId: one })).body).toMatchObject({ sent: 3, notTried: 0 });
    expect(sentOf(one)).toEqual(await historyIds(one));
    sent.length = 0;
    expect((await post(webhookId, "replay", { submissionId: one, eventId: second })).body.sent).toBe(1);
    expect(sentOf(one)).toEqual([second]);
    sent.length = 0;
    let body: Loose = { from: began, until };
    do {
      const reply = await post(webhookId, "replay", body);
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
      body = reply.body.nextPageToken === undefined ? undefined : { pageToken: reply.body.nextPageToken };
    } while (body !== undefined);
    expect(sent).toHaveLength(6);
    for (const id of [one, other]) expect(sentOf(id)).toEqual(await historyIds(id));
    poisoned.add(one);
    const failed = await post(webhookId, "replay", { submissionId: one });
    expect(failed.body).toMatchObject({ sent: 0, failed: [{ submissionId: one }], notTried: 2 });
  });

  it("is refused what can't be replayed, and only an admin may replay", async () => {
    const { intake, webhookId } = await hooked();
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "viewer" } });
    const stranger = await server.makeKey({
      roles: ["admin"],
      actor: { kind: "human", id: "stranger" },
      tenant: "elsewhere",
    });
    for (const what of ["test", "skip", "replay"]) {
      expect((await post(webhookId, what, {}, viewer)).status).toBe(403);
      expect((await post(webhookId, what, {}, stranger)).status).toBe(404);
    }
    expect((await post(webhookId, "replay", { submissionId: "sub_nobody" })).status).toBe(404);
    const mixed = { submissionId: await written(server, intake, 0), from: "2026-01-01T00:00:00.000Z" };
    expect((await post(webhookId, "replay", mixed)).status).toBe(400);
  });
});
