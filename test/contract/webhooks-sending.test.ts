import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created, eventsOf, submit, until } from "../support/moves.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";
import { idsOf, lookAt, messageOf, newUrl, onceSo, pushed, sentTo, webhook, written } from "../support/webhooks.ts";

const FAILED = { kind: "failed", error: "502" } as const;
const HOUR = 3_600_000;

let server: TestServer;
let courier: ScriptedCourier;
let intakes = 0;

beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({ courier, env: { FORMBRIDGE_JOB_POLL_MS: "10" } });
});
afterAll(() => server.stop());

async function intake(rest: object = {}): Promise<string> {
  intakes += 1;
  const id = `hooked-${intakes}`;
  expect((await server.putIntake({ id, ...rest })).status).toBe(201);
  return id;
}

/** How often the event of the only blocked submission was refused. */
const refusedTimes =
  (times: number) =>
  ({ blocked }: Loose): boolean =>
    blocked?.[0]?.failures === times;
const enable = (id: string) => server.call("POST", `/webhooks/${id}/enable`, { key: server.adminKey, body: {} });
const historyIds = async (id: string): Promise<string[]> =>
  (await eventsOf(server, id, "limit=1000")).map(({ eventId }) => eventId);
const idsFor = (url: string, submissionId: string): string[] =>
  idsOf(sentTo(courier, url).filter((outgoing) => outgoing.submissionId === submissionId));

describe("what is sent", () => {
  it("[WEBHOOK-WANTED] [WEBHOOK-BODY] every event of the submission stream from then on, as the history shows it", async () => {
    const id = await intake();
    await written(server, id);
    const { url } = await webhook(server, { intakes: [id] });
    const made = await created(server, id, { body: { initialFields: { name: "Ada" } } });
    await submit(server, made.resumeToken, "submit-hooked");
    await pushed(server);
    const events = await eventsOf(server, made.submissionId, "");
    const sent = sentTo(courier, url);
    expect(sent.map(messageOf)).toEqual(
      events.map((event) => ({ type: event.type, timestamp: event.ts, data: event })),
    );
    expect(idsOf(sent)).toEqual(events.map(({ eventId }) => eventId));
    expect(sent[0]).toMatchObject({
      tenant: "default",
      intakeId: id,
      attempt: 1,
      destination: { kind: "webhook", url },
    });
  });

  it("[WEBHOOK-WANTED] only the requested types and intakes, of other streams too", async () => {
    const [one, other] = [await intake(), await intake()];
    const all = await webhook(server, { intakes: [one, other] });
    const types = ["field.updated", "token.created"];
    const some = await webhook(server, { types, intakes: [other] });
    const none = await webhook(server, { types: ["submission.expired"], intakes: [one] });
    await written(server, one, 1);
    const wanted = await written(server, other, 1);
    await pushed(server);
    expect(sentTo(courier, all.url)).toHaveLength(4);
    expect(sentTo(courier, none.url)).toEqual([]);
    const messages = sentTo(courier, some.url).map(messageOf);
    expect(messages.map(({ type }) => type)).toEqual(["token.created", "field.updated"]);
    expect(new Set(messages.map(({ data }) => data.submissionId))).toEqual(new Set([wanted]));
  });

  it("[WEBHOOK-BODY] sensitive values are masked, and there is no token in it", async () => {
    const schema = { type: "object", properties: { tax: { type: "string", "x-sensitive": true } } };
    const id = await intake({ schema });
    const { url } = await webhook(server, { intakes: [id], types: ["submission.created", "token.created"] });
    await created(server, id, { body: { initialFields: { tax: "12-34-56" } } });
    await pushed(server);
    const text = JSON.stringify(sentTo(courier, url));
    expect(sentTo(courier, url)).toHaveLength(2);
    expect(text).not.toMatch(/12-34-56|rtok_|fbk_/);
  });

  it("[WEBHOOK-COMPLETE] more than a page of them, each once, in order", async () => {
    const id = await intake();
    const { url } = await webhook(server, { intakes: [id] });
    const made = await Promise.all(Array.from({ length: 50 }, () => written(server, id, 3)));
    await pushed(server);
    for (const submissionId of made) expect(idsFor(url, submissionId)).toEqual(await historyIds(submissionId));
    expect(sentTo(courier, url)).toHaveLength(200);
  });
});

describe("a message that fails", () => {
  it("[WEBHOOK-ORDER] [WEBHOOK-RETRIED] is retried after a growing delay, with the same id, and holds back what follows it", async () => {
    const id = await intake();
    const { url, webhookId } = await webhook(server, { intakes: [id] });
    courier.next(id, FAILED, FAILED);
    const submissionId = await written(server, id);
    const [waiting] = (await onceSo(server, webhookId, refusedTimes(1))).blocked;
    expect(waiting).toMatchObject({ submissionId, lastError: "502", nextAttemptAt: expect.any(String) });
    const wait = Date.parse(waiting.nextAttemptAt) - server.clock.now();
    expect(wait).toBeGreaterThanOrEqual(1_000);
    expect(wait).toBeLessThanOrEqual(2_000);
    server.clock.advance(wait - 1);
    await pushed(server);
    expect(idsFor(url, submissionId)).toHaveLength(1);
    server.clock.advance(1);
    const [again] = (await onceSo(server, webhookId, refusedTimes(2))).blocked;
    expect(Date.parse(again.nextAttemptAt) - server.clock.now()).toBeGreaterThanOrEqual(4_000);
    server.clock.advance(8_000);
    const healthy = await onceSo(server, webhookId, ({ blocked }) => blocked === undefined);
    expect([healthy.failures, healthy.lastError]).toEqual([0, undefined]);
    const history = await historyIds(submissionId);
    const [first] = history;
    expect(idsFor(url, submissionId)).toEqual([first, first, ...history]);
    const tries = sentTo(courier, url).filter(({ deliveryId }) => deliveryId === first);
    expect(tries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
  });

  it("[WEBHOOK-ASIDE] [WEBHOOK-COMPLETE] other submissions continue meanwhile, and are not sent again after it", async () => {
    const [bad, good] = [await intake(), await intake()];
    const { url, webhookId } = await webhook(server, { intakes: [bad, good] });
    courier.next(bad, FAILED, FAILED);
    const stuck = await written(server, bad);
    await onceSo(server, webhookId, refusedTimes(1));
    const free = await written(server, good);
    await pushed(server);
    expect(idsFor(url, free)).toEqual(await historyIds(free));
    server.clock.advance(2_000);
    await onceSo(server, webhookId, refusedTimes(2));
    const later = await written(server, good);
    await pushed(server);
    expect(idsFor(url, later)).toEqual(await historyIds(later));
    server.clock.advance(8_000);
    await onceSo(server, webhookId, ({ blocked }) => blocked === undefined);
    await pushed(server);
    expect(idsFor(url, stuck).slice(2)).toEqual(await historyIds(stuck));
    for (const id of [free, later]) expect(idsFor(url, id)).toEqual(await historyIds(id));
  });

  it("[WEBHOOK-ASIDE] a receiver that accepts nothing else either is paused until the next attempt", async () => {
    const [bad, worse] = [await intake(), await intake()];
    const { url, webhookId } = await webhook(server, { intakes: [bad, worse] });
    courier.next(bad, FAILED);
    courier.next(worse, FAILED);
    const first = await written(server, bad, 0);
    await onceSo(server, webhookId, ({ failures }) => failures === 1);
    const second = await written(server, worse, 0);
    await pushed(server);
    const third = await written(server, worse, 0);
    await pushed(server);
    expect([first, second, third].map((id) => idsFor(url, id).length)).toEqual([1, 1, 0]);
    server.clock.advance(2_000);
    await pushed(server);
    expect([first, second, third].map((id) => idsFor(url, id).length)).toEqual([2, 2, 1]);
  });

  it("[WEBHOOK-RETRIED] waits as long as the receiver asks", async () => {
    const id = await intake();
    const { webhookId } = await webhook(server, { intakes: [id] });
    courier.next(id, { kind: "failed", error: "429", retryAfterMs: 50_000 });
    await written(server, id);
    const { nextAttemptAt } = await onceSo(server, webhookId, ({ failures }) => failures === 1);
    expect(nextAttemptAt).toBe(new Date(server.clock.now() + 50_000).toISOString());
  });

  it("[WEBHOOK-DISABLED] [WEBHOOK-ENABLED] a receiver that accepts nothing is finally disabled; when it is enabled, nothing is missing", async () => {
    const id = await intake();
    const { url, webhookId } = await webhook(server, { intakes: [id] });
    courier.next(id, ...Array(200).fill(FAILED));
    const made: string[] = [];
    for (let strike = 1; strike <= 10; strike++) {
      made.push(await written(server, id, 1));
      await onceSo(server, webhookId, ({ failures }) => failures === strike);
      server.clock.advance(6 * HOUR);
    }
    const over = await lookAt(server, webhookId);
    expect(over).toMatchObject({ state: "disabled", failures: 10, lastError: "502" });
    expect(over.nextAttemptAt).toBeUndefined();
    const sent = sentTo(courier, url).length;
    made.push(await written(server, id));
    server.clock.advance(6 * HOUR);
    await pushed(server);
    expect(sentTo(courier, url)).toHaveLength(sent);
    courier.forget(id);
    const enabled = await enable(webhookId);
    expect([enabled.status, enabled.body.webhook.state, enabled.body.webhook.failures]).toEqual([200, "active", 0]);
    await pushed(server);
    for (const one of made) {
      const history = await historyIds(one);
      expect(idsFor(url, one).slice(-history.length)).toEqual(history);
    }
  });

  it("[WEBHOOK-DISABLED] is disabled at once when a retry can't help", async () => {
    const id = await intake();
    const { webhookId } = await webhook(server, { intakes: [id] });
    courier.next(id, { kind: "failed", error: "410 Gone\u0000", final: true });
    await written(server, id, 0);
    expect(await onceSo(server, webhookId, ({ state }) => state === "disabled")).toMatchObject({
      failures: 1,
      lastError: "410 Gone ",
    });
  });
});

describe("a receiver that does not respond", () => {
  it("[WEBHOOK-FAIR] does not delay other webhooks, and gets only a limited number at once", async () => {
    const [slow, quick] = [await intake(), await intake()];
    const stuck = await webhook(server, { intakes: [slow] });
    const other = await webhook(server, { intakes: [quick] });
    courier.next(slow, ...Array(9).fill("hold"));
    // While the first is held, the others are collected for the next round.
    await written(server, slow, 0);
    await until(() => courier.held() === 1 || undefined);
    const made = await Promise.all(Array.from({ length: 12 }, () => written(server, slow, 1)));
    courier.release();
    await until(() => courier.held() === 8 || undefined);
    const free = await written(server, quick);
    await until(() => sentTo(courier, other.url).length === 3 || undefined);
    expect(idsFor(other.url, free)).toEqual(await historyIds(free));
    expect(sentTo(courier, stuck.url)).toHaveLength(9);
    while (courier.held() > 0) courier.release();
    await pushed(server);
    for (const submissionId of made) expect(idsFor(stuck.url, submissionId)).toEqual(await historyIds(submissionId));
  });

  it("[WEBHOOK-DELETED] one that was deleted meanwhile stays deleted", async () => {
    const id = await intake();
    const { url, webhookId } = await webhook(server, { intakes: [id] });
    courier.next(id, "hold");
    await written(server, id, 0);
    await until(() => courier.held() === 1 || undefined);
    const gone = await server.call("DELETE", `/webhooks/${webhookId}`, { key: server.adminKey });
    expect([gone.status, gone.body]).toEqual([200, { ok: true, webhookId, deleted: true }]);
    courier.release(FAILED);
    await written(server, id);
    server.clock.advance(6 * HOUR);
    await pushed(server);
    expect(sentTo(courier, url)).toHaveLength(1);
    expect(await lookAt(server, webhookId)).toBeUndefined();
  });
});

describe("webhooks of a definition", () => {
  const definition = (id: string, version: string, eventWebhooks: object[]) =>
    server.call("PUT", `/intakes/${id}`, {
      key: server.adminKey,
      body: {
        id,
        version,
        name: id,
        access: "public",
        schema: { type: "object", properties: { name: { type: "string" } } },
        destination: { kind: "store" },
        eventWebhooks,
      },
    });
  const ofIntake = async (id: string) =>
    (await server.call("GET", "/webhooks?limit=1000", { key: server.adminKey })).body.items.filter(
      ({ definedBy }: { definedBy?: string }) => definedBy === id,
    );

  it("[WEBHOOK-DEFINED] get what they name, change with it, and are removed with it", async () => {
    const [url, brief] = [newUrl(), newUrl()];
    await definition("named", "1", [{ url }, { url: brief, types: ["submission.finalized"], secret: "first" }]);
    const before = await ofIntake("named");
    expect(before).toMatchObject([{ intakes: ["named"], state: "active" }, { intakes: ["named"] }]);
    await definition("named", "1", [{ url }, { url: brief, types: ["submission.finalized"], secret: "first" }]);
    expect(await ofIntake("named")).toEqual(before);
    await written(server, "named", 1);
    await pushed(server);
    expect(sentTo(courier, url)).toHaveLength(2);
    expect(sentTo(courier, url)[0]?.secrets).toEqual([expect.stringMatching(/^whsec_/)]);
    expect(sentTo(courier, brief)).toEqual([]);
    await definition("named", "2", [{ url: brief, types: ["submission.created"], secret: "second" }]);
    const after = await ofIntake("named");
    expect(after).toMatchObject([{ url: brief, types: ["submission.created"] }]);
    expect(before.map(({ webhookId }: { webhookId: string }) => webhookId)).toContain(after[0].webhookId);
    await written(server, "named", 1);
    await pushed(server);
    expect(sentTo(courier, url)).toHaveLength(2);
    expect(sentTo(courier, brief).map(({ secrets }) => secrets)).toEqual([["second", "first"]]);
    const own = expect.stringMatching(/^whsec_/);
    await definition("named", "3", [{ url: brief, types: ["submission.created"] }]);
    await written(server, "named", 0);
    await pushed(server);
    expect(sentTo(courier, brief).at(-1)?.secrets).toEqual([own, "second", "first"]);
    await definition("named", "4", [{ url: brief, types: ["submission.created"], secret: "third" }]);
    await written(server, "named", 0);
    await pushed(server);
    expect(sentTo(courier, brief).at(-1)?.secrets).toEqual(["third", own, "second", "first"]);
  });

  it("[WEBHOOK-DEFINED] stay when their intake is retired; until then they are changed in its definition alone", async () => {
    const url = newUrl();
    await definition("leaving", "1", [{ url, types: ["field.updated"] }]);
    const [{ webhookId }] = await ofIntake("leaving");
    const remove = () => server.call("DELETE", `/webhooks/${webhookId}`, { key: server.adminKey });
    const rotate = () => server.call("POST", `/webhooks/${webhookId}/secret`, { key: server.adminKey, body: {} });
    expect([(await remove()).status, (await rotate()).status, (await enable(webhookId)).status]).toEqual([
      409, 409, 200,
    ]);
    await server.call("DELETE", "/intakes/leaving", { key: server.adminKey });
    expect(await ofIntake("leaving")).toHaveLength(1);
    expect((await remove()).status).toBe(200);
    expect(await ofIntake("leaving")).toEqual([]);
  });

  it("[WEBHOOK-DEFINED] [WEBHOOK-BAD-INPUT] a definition with an invalid webhook is refused", async () => {
    const reply = await definition("wrong", "1", [
      { url: "ftp://x.invalid" },
      { url: newUrl(), types: ["nothing.at_all"] },
    ]);
    expect(reply.status).toBe(422);
    expect(reply.body.error.fields.map(({ path }: { path: string }) => path)).toEqual([
      "eventWebhooks.0.url",
      "eventWebhooks.1.types.0",
    ]);
    expect(await ofIntake("wrong")).toEqual([]);
  });
});
