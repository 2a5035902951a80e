import type { Change, Submission } from "@formbridge/core";
import { erasedRecord, firstBrokenLink, type Instant } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import {
  AGENT,
  cancelled,
  creation,
  HOUR,
  keyWrite,
  newHandoff,
  newHash,
  newWebhook,
  quietUpdate,
  TENANT,
  update,
} from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const STREAMS = ["submission", "token", "idempotency"] as const;
const NOBODY = { kind: "agent", id: "erased" } as const;

const idOf = ({ row }: Change) => ({ tenant: row.submission.tenant, submissionId: row.submission.submissionId });
const byId = ({ row: { submission } }: Change) => ({
  by: { id: submission.submissionId, tenant: submission.tenant },
});

const bare = (submission: Submission, at: Instant): Submission => ({
  ...submission,
  fields: {},
  attribution: { paths: {}, removed: {}, writes: {} },
  createdBy: NOBODY,
  lastUpdatedBy: NOBODY,
  tokensRevoked: true,
  erasedAt: at,
});

const erasure = (last: Change, at: Instant): Change =>
  quietUpdate(last, at, { to: bare(last.row.submission, at), erase: true });

/** A submission that has ended, and its last change. */
async function ended({ store, clock }: Subject, details: Partial<Submission> = {}): Promise<Change> {
  const first = creation({ at: clock.now(), ...details });
  const to = cancelled({ ...first.row.submission, ...details } as Submission, clock.now());
  const last = update(first, clock.now(), { to });
  for (const change of [first, last]) expect(await store.commit(change)).toMatchObject({ kind: "committed" });
  return last;
}

export function describeRetention(open: OpenBackend): void {
  describe("retention", () => {
    const subject = useBackend(open);
    describe("finds what has ended", () => finding(subject));
    describe("erasing", () => erasing(subject));
    describe("removing", () => removing(subject));
  });
}

function finding(subject: () => Subject): void {
  it("by definition, of all tenants, the longest ended first", async () => {
    const { retention, store, clock } = subject();
    const definition = newHash();
    await store.commit(creation({ at: clock.now() }));
    expect(await retention.definitions()).toEqual([]);
    const at = clock.now();
    const first = await ended(subject(), { definition });
    clock.advance(HOUR);
    const second = await ended(subject(), { definition, tenant: "other" });
    const elsewhere = await ended(subject(), { definition: newHash() });
    const found = await retention.definitions();
    expect([...found].sort()).toEqual([definition, elsewhere.row.submission.definition].sort());
    const before = (limit: Instant, most = 10) => retention.endedBefore(limit, { definition, limit: most });
    expect(await before(at)).toEqual([]);
    expect(await before(at + 1)).toEqual([idOf(first)]);
    expect(await before(at + HOUR + 1)).toEqual([idOf(first), idOf(second)]);
    expect(await before(at + HOUR + 1, 1)).toEqual([idOf(first)]);
  });

  it("not by what a caller calls a definition", async () => {
    const { retention, clock } = subject();
    const definition = newHash();
    await ended(subject(), {
      definition,
      intakeVersion: `"definition":"${newHash()}"`,
      fields: { definition: newHash() },
    });
    expect(await retention.definitions()).toEqual([definition]);
    expect(await retention.endedBefore(clock.now() + 1, { definition, limit: 10 })).toHaveLength(1);
  });

  it("until it is erased", async () => {
    const { retention, store, clock } = subject();
    const last = await ended(subject());
    await store.commit(erasure(last, clock.now()));
    expect(await retention.definitions()).toEqual([]);
    const { definition } = last.row.submission;
    expect(await retention.endedBefore(clock.now() + HOUR, { definition, limit: 10 })).toEqual([]);
  });
}

function erasing(subject: () => Subject): void {
  it("leaves the bare row, and a chain without values that verifies", async () => {
    const { store, events, clock } = subject();
    const last = await ended(subject());
    const erase = erasure(last, clock.now());
    expect(await store.commit(erase)).toEqual({ kind: "committed", at: clock.now() });
    expect(await store.load(byId(last))).toEqual({ now: clock.now(), submission: { ...erase.row, sealedToken: "" } });
    const history = (await events.read({ ...idOf(last), streams: STREAMS }, 100)) ?? [];
    expect(history.map(({ type }) => type)).toHaveLength(5);
    expect(firstBrokenLink(history)).toBeUndefined();
    const [own] = history.slice(-1);
    expect(own).toMatchObject({ eventId: erase.events[0]?.eventId, actor: AGENT, payloadSalt: "salt" });
    for (const event of history.slice(0, -1)) {
      expect(event).toMatchObject({ actor: null, actorSalt: null, payload: null, payloadSalt: null });
    }
    const feed = await events.feed({ tenant: TENANT, streams: STREAMS }, { after: 0, limit: 100 });
    expect(feed.events.map(({ event }) => event)).toEqual(history);
  });

  it("removes every token and hand-off of the submission, and nobody else's", async () => {
    const { store, tokens, handoffs, clock } = subject();
    const first = creation({ at: clock.now() });
    const handoff = newHandoff(first, { at: clock.now(), opened: 1 });
    const other = creation({ at: clock.now() });
    const to = cancelled(first.row.submission, clock.now());
    const last = update(first, clock.now(), { to, side: [{ kind: "handoff", handoff }] });
    for (const change of [other, first, last]) await store.commit(change);
    for (const { token } of [first, last]) await store.load({ by: { token: token?.hash ?? "" } });
    await store.commit(erasure(last, clock.now()));
    for (const { token } of [first, last]) {
      expect(await store.load({ by: { token: token?.hash ?? "" } })).toEqual({ now: clock.now() });
      expect(await tokens.find(token?.hash ?? "")).toBeUndefined();
    }
    for (const session of [handoff.link ?? "", handoff.sessions[0]?.hash ?? ""]) {
      expect(await store.load({ by: { session } })).toEqual({ now: clock.now() });
    }
    expect(await handoffs.ofSubmission(first.row.submission.submissionId)).toEqual([]);
    expect((await store.load({ by: { token: other.token?.hash ?? "" } })).submission).toBeDefined();
  });

  it("redacts the named parts of some events, and leaves tokens, values and the rest of the chain", async () => {
    const { store, events, handoffs, clock } = subject();
    const first = creation({ at: clock.now() });
    const handoff = newHandoff(first, { at: clock.now(), opened: 1 });
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const to = cancelled(first.row.submission, clock.now());
    const last = update(first, clock.now(), { to, key, side: [{ kind: "handoff", handoff }] });
    const other = await ended(subject());
    for (const change of [first, last]) await store.commit(change);
    const read = async (of: Change) => (await events.read({ ...idOf(of), streams: STREAMS }, 100)) ?? [];
    const [before, others] = [await read(last), await read(other)];
    const [one, two, ...rest] = before;
    if (one === undefined || two === undefined) throw new Error("two events at least");
    const redact = [
      { ...one, actor: null, actorSalt: null },
      { ...two, payload: null, payloadSalt: null },
    ];
    const change = quietUpdate(last, clock.now(), { redact });
    expect(await store.commit({ ...change, expect: { revision: 99 } })).toMatchObject({ kind: "stale" });
    expect(await read(last)).toEqual(before);
    expect(await store.commit(change)).toMatchObject({ kind: "committed" });
    const after = await read(last);
    expect(after).toEqual([...redact, ...rest, ...change.events]);
    expect(firstBrokenLink(after)).toBeUndefined();
    expect(await read(other)).toEqual(others);
    expect(await handoffs.ofSubmission(first.row.submission.submissionId)).toEqual([]);
    const loaded = await store.load({ by: { token: last.token?.hash ?? "" }, key: key.ref });
    expect(loaded).toMatchObject({ presented: { version: 2 }, record: erasedRecord });
    expect(loaded.submission?.submission.fields).toEqual(last.row.submission.fields);
  });

  it("keeps the idempotency keys taken, and nothing of the recorded responses", async () => {
    const { store, idempotency, clock } = subject();
    const at = clock.now();
    const kept = keyWrite({ expiresAt: at + HOUR, keepAfterEndMs: HOUR, answerBy: at + 5 });
    const other = keyWrite({ ref: { operation: "setFields", hash: newHash() }, expiresAt: at + HOUR });
    const first = creation({ at }, { key: kept });
    const last = update(first, at, { to: cancelled(first.row.submission, at), key: other });
    for (const change of [first, last]) await store.commit(change);
    await store.commit(erasure(last, at));
    const { tenant, intakeId } = first.row.submission;
    for (const { ref } of [kept, other]) {
      const record = await store.load({ ...byId(first), key: ref });
      expect(record.record).toMatchObject(erasedRecord);
      expect(record.record).not.toHaveProperty("answerBy");
      expect(await idempotency.find({ ...ref, tenant, intakeId })).toMatchObject(erasedRecord);
    }
    expect(await store.commit(creation({ at }, { key: kept }))).toMatchObject({ kind: "key_taken" });
  });

  it("is refused on another revision, and then removes nothing", async () => {
    const { store, events, clock } = subject();
    const last = await ended(subject());
    const late = erasure(last, clock.now());
    await store.commit(quietUpdate(last, clock.now()));
    expect(await store.commit(late)).toMatchObject({ kind: "stale" });
    const { submission, presented } = await store.load({ by: { token: last.token?.hash ?? "" } });
    expect(submission?.submission.fields).toEqual({ name: "Ada" });
    expect(presented).toBeDefined();
    const history = await events.read({ ...idOf(last), streams: STREAMS }, 100);
    expect(history?.every(({ actor }) => actor !== null)).toBe(true);
  });

  it("disappears from the lists of its creator, and stays in those of its state", async () => {
    const { store, submissions, clock } = subject();
    const last = await ended(subject());
    await store.commit(erasure(last, clock.now()));
    expect(await submissions.list({ tenant: TENANT, createdById: AGENT.id }, { limit: 10 })).toEqual([]);
    expect(await submissions.list({ tenant: TENANT, states: ["cancelled"] }, { limit: 10 })).toHaveLength(1);
  });
}

function removing(subject: () => Subject): void {
  it("removes completely what was erased before a time, up to a limit", async () => {
    const { store, retention, events, idempotency, clock } = subject();
    const stays = await ended(subject());
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const first = creation({ at: clock.now() }, { key });
    const old = update(first, clock.now(), { to: cancelled(first.row.submission, clock.now()) });
    for (const change of [first, old]) await store.commit(change);
    const young = await ended(subject());
    const at = clock.now();
    await store.commit(erasure(old, at));
    clock.advance(HOUR);
    await store.commit(erasure(young, clock.now()));
    await store.load(byId(old));
    expect(await retention.removeErased(at, 10)).toBe(0);
    expect(await retention.removeErased(at + 1, 10)).toBe(1);
    expect(await store.load(byId(old))).toEqual({ now: clock.now() });
    expect(await events.read({ ...idOf(old), streams: STREAMS }, 10)).toEqual([]);
    const { tenant, intakeId } = first.row.submission;
    expect(await idempotency.find({ ...key.ref, tenant, intakeId })).toBeUndefined();
    expect((await store.load(byId(young))).submission).toBeDefined();
    expect(await retention.removeErased(clock.now() + 1, 10)).toBe(1);
    expect(await retention.removeErased(clock.now() + 1, 10)).toBe(0);
    expect((await store.load(byId(stays))).submission?.submission.fields).toEqual({ name: "Ada" });
  });

  it("is bounded, the longest erased first, and leaves the feed whole", async () => {
    const { store, retention, events, clock } = subject();
    const gone: Change[] = [];
    for (let made = 0; made < 3; made++) {
      const last = await ended(subject());
      clock.advance(1);
      await store.commit(erasure(last, clock.now()));
      gone.push(last);
    }
    expect(await retention.removeErased(clock.now() + 1, 2)).toBe(2);
    const left = gone.map(async (change) => (await store.load(byId(change))).submission !== undefined);
    expect(await Promise.all(left)).toEqual([false, false, true]);
    const after = await ended(subject());
    const feed = await events.feed({ tenant: TENANT, streams: STREAMS }, { after: 0, limit: 100 });
    const ids = [...new Set(feed.events.map(({ event }) => event.submissionId))];
    expect(ids).toEqual([gone[2], after].map((change) => change?.row.submission.submissionId));
  });
  it("keeps every webhook's position in the feed, and shows it later events", async () => {
    const { store, retention, webhooks, events, clock } = subject();
    const before = newWebhook();
    const last = await ended(subject());
    await webhooks.add(before);
    await store.commit(erasure(last, clock.now()));
    expect(await retention.removeErased(clock.now() + 1, 10)).toBe(1);
    const after = newWebhook();
    await webhooks.add(after);
    const written = await ended(subject());
    const claimed = await webhooks.claim(10, 1_000);
    expect(claimed.map(({ webhookId }) => webhookId)).toEqual([before.webhookId, after.webhookId]);
    for (const { progress } of claimed) {
      const page = await events.feed({ tenant: TENANT, streams: STREAMS }, { after: progress.position, limit: 100 });
      expect(new Set(page.events.map(({ event }) => event.submissionId))).toEqual(
        new Set([written.row.submission.submissionId]),
      );
    }
  });
}
