import type { ClaimedWebhook, Webhook, WebhookProgress } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, newWebhook, TENANT } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const LEASE = 1_000;
const idsOf = (webhooks: readonly Webhook[]): string[] => webhooks.map(({ webhookId }) => webhookId);

/** Writes an event to the tenant's feed. */
const write = ({ store, clock }: Subject, tenant = TENANT) => store.commit(creation({ at: clock.now(), tenant }));

async function added(subject: Subject, details: Partial<Webhook> = {}): Promise<Webhook> {
  const webhook = newWebhook(details);
  expect(await subject.webhooks.add(webhook)).toBe("added");
  return webhook;
}

/** A webhook with events to send, claimed by a worker. */
async function held(subject: Subject): Promise<ClaimedWebhook> {
  await added(subject);
  await write(subject);
  const [claimed] = await subject.webhooks.claim(1, LEASE);
  if (claimed === undefined) throw new Error("nothing was claimed");
  return claimed;
}

const progressOf = (claimed: ClaimedWebhook, rest: Partial<WebhookProgress> = {}): WebhookProgress => ({
  ...claimed.progress,
  ...rest,
});

export function describeWebhooks(open: OpenBackend): void {
  describe("webhooks", () => {
    const subject = useBackend(open);
    describe("keeping", () => keeping(subject));
    describe("changing", () => changing(subject));
    describe("claiming", () => claiming(subject));
    describe("settling", () => settling(subject));
  });
}

function keeping(subject: () => Subject): void {
  it("are found by id and tenant, exactly as added, active, at the end of the feed", async () => {
    const { webhooks, events, clock } = subject();
    await write(subject());
    const webhook = await added(subject(), {
      types: ["submission.created"],
      intakes: ["contact"],
      definedBy: "contact",
    });
    const found = await webhooks.get(webhook);
    const { position } = await events.feed({ tenant: TENANT, streams: ["submission"] }, { after: 0, limit: 100 });
    expect(found?.progress.position).toBeGreaterThanOrEqual(position);
    const progress = { state: "active", ahead: [], blocked: [], failures: 0, nextAttemptAt: clock.now() };
    expect(found).toEqual({ ...webhook, progress: { ...progress, position: found?.progress.position } });
    expect(await webhooks.get({ ...webhook, tenant: "other" })).toBeUndefined();
    expect(await webhooks.get({ ...webhook, webhookId: "whk_nobody" })).toBeUndefined();
  });

  it("one with a known id is not changed", async () => {
    const { webhooks } = subject();
    const webhook = await added(subject());
    expect(await webhooks.add({ ...webhook, url: "https://other.invalid" })).toBe("known");
    expect((await webhooks.get(webhook))?.url).toBe(webhook.url);
  });

  it("a tenant's callers have a limited number; those defined by intakes are not counted", async () => {
    const { webhooks } = subject();
    await added(subject(), { definedBy: "contact" });
    await added(subject(), { tenant: "other" });
    expect(await webhooks.add(newWebhook(), 1)).toBe("added");
    expect(await webhooks.add(newWebhook(), 1)).toBe("full");
    expect(await webhooks.add(newWebhook({ definedBy: "contact" }))).toBe("added");
  });

  it("list by id, page by page, without other tenants', and by the intake that defines them", async () => {
    const { webhooks } = subject();
    const [a, b, c, d] = [
      newWebhook(),
      newWebhook({ definedBy: "contact" }),
      newWebhook({ tenant: "o" }),
      newWebhook(),
    ];
    for (const webhook of [d, c, b, a]) await webhooks.add(webhook);
    expect(idsOf(await webhooks.list({ tenant: TENANT }, 10))).toEqual(idsOf([a, b, d]));
    expect(idsOf(await webhooks.list({ tenant: TENANT, after: a.webhookId }, 1))).toEqual(idsOf([b]));
    expect(idsOf(await webhooks.list({ tenant: TENANT, definedBy: "contact" }, 10))).toEqual(idsOf([b]));
    expect(await webhooks.list({ tenant: TENANT, definedBy: "other" }, 10)).toEqual([]);
    expect(await webhooks.count({ tenant: TENANT }, 10)).toBe(3);
    expect(await webhooks.count({ tenant: TENANT }, 2)).toBe(2);
  });

  it("are removed once, by their own tenant only", async () => {
    const { webhooks } = subject();
    const webhook = await added(subject());
    expect(await webhooks.remove({ ...webhook, tenant: "other" })).toBe(false);
    expect(await webhooks.remove(webhook)).toBe(true);
    expect(await webhooks.remove(webhook)).toBe(false);
    expect(await webhooks.get(webhook)).toBeUndefined();
  });
}

function changing(subject: () => Subject): void {
  it("replaces only the previous revision, and keeps the progress", async () => {
    const { webhooks } = subject();
    const claimed = await held(subject());
    const { progress, claim: _claim, leasedUntil: _until, ...webhook } = claimed;
    const next = { ...webhook, url: "https://new.invalid", revision: 2 };
    expect(await webhooks.update({ ...next, tenant: "other" })).toBe(false);
    expect(await webhooks.update(next)).toBe(true);
    expect(await webhooks.update(next)).toBe(false);
    expect(await webhooks.get(webhook)).toEqual({ ...next, progress });
    expect(await webhooks.settle(claimed, progressOf(claimed, { failures: 3 }))).toBe(true);
    expect(await webhooks.get(webhook)).toMatchObject({ url: next.url, progress: { failures: 3 } });
  });

  it("is held once, by the first caller, whether there is something to send or not", async () => {
    const { webhooks, clock } = subject();
    const webhook = await added(subject());
    expect(await webhooks.hold({ ...webhook, tenant: "other" }, LEASE)).toBeUndefined();
    const held = await webhooks.hold(webhook, LEASE);
    expect(held).toEqual({ ...(await webhooks.get(webhook)), claim: 1, leasedUntil: clock.now() + LEASE });
    expect(await webhooks.hold(webhook, LEASE)).toBeUndefined();
    await write(subject());
    expect(await webhooks.claim(1, LEASE)).toEqual([]);
    if (held !== undefined) await webhooks.settle(held, progressOf(held, { state: "disabled" }));
    expect(await webhooks.claim(1, LEASE)).toEqual([]);
    expect(await webhooks.hold(webhook, LEASE)).toMatchObject({ claim: 2, progress: { state: "disabled" } });
    clock.advance(LEASE);
    expect(await webhooks.hold(webhook, LEASE)).toMatchObject({ claim: 3 });
  });
}

function claiming(subject: () => Subject): void {
  it("returns one only when something was written since", async () => {
    const { webhooks, clock } = subject();
    await write(subject());
    const webhook = await added(subject());
    expect(await webhooks.claim(10, LEASE)).toEqual([]);
    await write(subject());
    const stored = await webhooks.get(webhook);
    expect(await webhooks.claim(10, LEASE)).toEqual([{ ...stored, claim: 1, leasedUntil: clock.now() + LEASE }]);
  });

  it("is not given to anyone else until the lease is over", async () => {
    const { webhooks, clock } = subject();
    const { webhookId } = await held(subject());
    clock.advance(LEASE - 1);
    expect(await webhooks.claim(10, LEASE)).toEqual([]);
    clock.advance(1);
    expect(await webhooks.claim(10, LEASE)).toMatchObject([{ webhookId, claim: 2 }]);
  });

  it("returns those due longest first, up to the limit, and none early", async () => {
    const { webhooks, clock } = subject();
    const [a, b, c] = [await added(subject()), await added(subject()), await added(subject())];
    await write(subject());
    const at = clock.now();
    const claimed = await webhooks.claim(10, LEASE);
    for (const [webhook, nextAttemptAt] of [
      [a, at + 20],
      [b, at + 10],
      [c, at + 30],
    ] as const) {
      const own = claimed.find(({ webhookId }) => webhookId === webhook.webhookId);
      if (own !== undefined) await webhooks.settle(own, progressOf(own, { nextAttemptAt }));
    }
    expect(await webhooks.claim(10, LEASE)).toEqual([]);
    clock.advance(29);
    expect(idsOf(await webhooks.claim(1, LEASE))).toEqual(idsOf([b]));
    expect(idsOf(await webhooks.claim(10, LEASE))).toEqual(idsOf([a]));
  });

  it("returns one when a blocked submission is due, with nothing else to send, and not before", async () => {
    const { webhooks, events, clock } = subject();
    const claimed = await held(subject());
    const streams = ["submission", "token"] as const;
    const { position } = await events.feed({ tenant: TENANT, streams }, { after: 0, limit: 100 });
    const nextAttemptAt = clock.now() + 10;
    const line = { submissionId: "sub_1", intakeId: "contact", eventId: "evt_1", last: "evt_2", failures: 1 };
    const blocked = [{ ...line, from: { position: 1 }, nextAttemptAt, lastError: "502" }];
    const waiting = progressOf(claimed, { position, blocked, retryAt: nextAttemptAt });
    await webhooks.settle(claimed, waiting);
    expect((await webhooks.get(claimed))?.progress).toEqual(waiting);
    expect(await webhooks.claim(1, LEASE)).toEqual([]);
    clock.advance(10);
    const [again] = await webhooks.claim(1, LEASE);
    expect(again?.progress).toEqual(waiting);
    const { retryAt: _none, ...free } = waiting;
    if (again !== undefined) await webhooks.settle(again, { ...free, blocked: [] });
    expect((await webhooks.get(claimed))?.progress).toEqual({ ...free, blocked: [] });
    expect(await webhooks.claim(1, LEASE)).toEqual([]);
  });

  it("gives every one to one of many workers", async () => {
    const { webhooks } = subject();
    for (let count = 0; count < 20; count++) await added(subject());
    await write(subject());
    const claims = await Promise.all(Array.from({ length: 10 }, () => webhooks.claim(3, LEASE)));
    const ids = idsOf(claims.flat());
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });
}

function settling(subject: () => Subject): void {
  it("stores the progress, and releases the claim", async () => {
    const { webhooks } = subject();
    const claimed = await held(subject());
    const { position } = claimed.progress;
    const progress = progressOf(claimed, {
      position: position + 1,
      ahead: [position + 3, position + 4],
      lastError: "x",
    });
    await write(subject());
    expect(await webhooks.settle(claimed, progress)).toBe(true);
    expect((await webhooks.get(claimed))?.progress).toEqual(progress);
    expect(await webhooks.claim(1, LEASE)).toMatchObject([{ claim: 2, progress }]);
  });

  it("counts only for the latest claim, however late", async () => {
    const { webhooks, clock } = subject();
    const first = await held(subject());
    clock.advance(LEASE);
    const [second] = await webhooks.claim(1, LEASE);
    const moved = progressOf(first, { position: first.progress.position + 1 });
    expect(await webhooks.settle(first, moved)).toBe(false);
    expect((await webhooks.get(first))?.progress).toEqual(first.progress);
    clock.advance(10 * LEASE);
    expect(second && (await webhooks.settle(second, moved))).toBe(true);
    expect((await webhooks.get(first))?.progress).toEqual(moved);
  });

  it("does not bring back a removed one", async () => {
    const { webhooks } = subject();
    const claimed = await held(subject());
    await webhooks.remove(claimed);
    expect(await webhooks.settle(claimed, claimed.progress)).toBe(false);
    expect(await webhooks.get(claimed)).toBeUndefined();
  });
}
