import type { Change, Handoff } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, HOUR, keyWrite, newHandoff, newHash, quietUpdate, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const sideOf = (handoff: Handoff) => ({ side: [{ kind: "handoff" as const, handoff }] });
const linkOf = ({ link = "" }: Handoff) => ({ by: { session: link } });

/** A submission with one hand-off, created by the second commit. */
async function handedOver(
  { store, clock }: Subject,
  details: Partial<Handoff> & { opened?: number } = {},
): Promise<{ handoff: Handoff; last: Change }> {
  const created = creation({ at: clock.now() });
  await store.commit(created);
  const handoff = newHandoff(created, { at: clock.now(), ...details });
  const last = quietUpdate(created, clock.now(), sideOf(handoff));
  expect(await store.commit(last)).toMatchObject({ kind: "committed" });
  return { handoff, last };
}

export function describeHandoffs(open: OpenBackend): void {
  describe("hand-offs", () => {
    const subject = useBackend(open);
    describe("load by session", () => loading(subject));
    describe("with the row", () => committing(subject));
    describe("lookup", () => lookUp(subject));
    describe("listing", () => listing(subject));
    describe("forgetting", () => forgetting(subject));
  });
}

function loading(subject: () => Subject): void {
  it("returns only the store's time for an unknown hash", async () => {
    const { store, clock } = subject();
    await handedOver(subject());
    expect(await store.load({ by: { session: newHash() } })).toEqual({ now: clock.now() });
  });

  it("finds submission and hand-off by the link, and by every session", async () => {
    const { store, clock } = subject();
    const { handoff, last } = await handedOver(subject(), { opened: 3 });
    const { submission } = await store.load({ by: { id: handoff.submissionId, tenant: handoff.tenant } });
    for (const hash of [handoff.link ?? "", ...handoff.sessions.map((session) => session.hash)]) {
      expect(await store.load({ by: { session: hash } })).toEqual({ now: clock.now(), submission, handoff });
    }
    expect(submission?.submission).toEqual(last.row.submission);
  });

  it("still finds it after writes, with the newest row", async () => {
    const { store, clock } = subject();
    const { handoff, last } = await handedOver(subject());
    const written = update(last, clock.now());
    await store.commit(written);
    const loaded = await store.load(linkOf(handoff));
    expect(loaded).toMatchObject({ handoff, submission: { submission: written.row.submission } });
  });

  it("finds the record of an idempotency key with it", async () => {
    const { store, clock } = subject();
    const { handoff, last } = await handedOver(subject());
    const key = keyWrite({ ref: { operation: "submit", hash: newHash() }, expiresAt: clock.now() + HOUR });
    await store.commit(update(last, clock.now(), { key }));
    expect((await store.load({ ...linkOf(handoff), key: key.ref })).record?.fingerprint).toBe(key.fingerprint);
  });

  it("a token is not a session, and a session is not a token", async () => {
    const { store, clock } = subject();
    const { handoff, last } = await handedOver(subject());
    const written = update(last, clock.now());
    await store.commit(written);
    expect(await store.load({ by: { session: written.token?.hash ?? "" } })).toEqual({ now: clock.now() });
    expect(await store.load({ by: { token: handoff.link ?? "" } })).toEqual({ now: clock.now() });
  });
}

function committing(subject: () => Subject): void {
  it("a hand-off with the same id is replaced completely; removed sessions stop working", async () => {
    const { store, handoffs, clock } = subject();
    const { handoff, last } = await handedOver(subject(), { opened: 2 });
    const [gone, kept] = handoff.sessions;
    if (gone === undefined || kept === undefined) throw new Error("two sessions were opened");
    const { link, ...rest } = handoff;
    // Look it up before too, so that a cached result would be noticed.
    for (const hash of [link ?? "", gone.hash, kept.hash]) {
      expect((await store.load({ by: { session: hash } })).handoff).toEqual(handoff);
    }
    const after: Handoff = { ...rest, sessions: [kept], revokedAt: clock.now() };
    await store.commit(quietUpdate(last, clock.now(), sideOf(after)));
    expect(await handoffs.ofSubmission(handoff.submissionId)).toEqual([after]);
    expect((await store.load({ by: { session: kept.hash } })).handoff).toEqual(after);
    for (const hash of [link ?? "", gone.hash]) {
      expect(await store.load({ by: { session: hash } })).toEqual({ now: clock.now() });
    }
  });

  it("a refused change leaves no hand-off behind, and changes none", async () => {
    const { store, handoffs, clock } = subject();
    const { handoff, last } = await handedOver(subject());
    const other = newHandoff(last, { at: clock.now() });
    const revoked = { ...handoff, revokedAt: clock.now() };
    const side = [...sideOf(other).side, ...sideOf(revoked).side];
    const notAfter = clock.now() - 1;
    expect(await store.commit(quietUpdate(last, clock.now(), { expect: { revision: 9 }, side }))).toMatchObject({
      kind: "stale",
    });
    expect(
      await store.commit(quietUpdate(last, clock.now(), { expect: { revision: 2, notAfter }, side })),
    ).toMatchObject({ kind: "too_late" });
    expect(await handoffs.ofSubmission(handoff.submissionId)).toEqual([handoff]);
    expect(await store.load(linkOf(other))).toEqual({ now: clock.now() });
  });

  it("of a write in a session and a revocation on the same revision, one is stale", async () => {
    const { store, clock } = subject();
    const { handoff, last } = await handedOver(subject());
    const revocation = quietUpdate(last, clock.now(), sideOf({ ...handoff, revokedAt: clock.now() }));
    const answers = await Promise.all([store.commit(revocation), store.commit(update(last, clock.now()))]);
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(["committed", "stale"]);
  });
}

function lookUp(subject: () => Subject): void {
  it("lists a submission's hand-offs, newest first, and no others", async () => {
    const { store, handoffs, clock } = subject();
    const { handoff: first, last } = await handedOver(subject());
    const second = newHandoff(last, { at: clock.now(), kind: "magic_link", sealed: "sealed: ünï" });
    await store.commit(quietUpdate(last, clock.now(), sideOf(second)));
    const { handoff: foreign } = await handedOver(subject());
    expect(await handoffs.ofSubmission(first.submissionId)).toEqual([second, first]);
    expect(await handoffs.ofSubmission(foreign.submissionId)).toEqual([foreign]);
    expect(await handoffs.ofSubmission("sub_nobody")).toEqual([]);
  });
}

function listing(subject: () => Subject): void {
  it("lists a tenant's hand-offs, newest first, page by page, and counts them up to a limit", async () => {
    const { handoffs } = subject();
    const made: Handoff[] = [];
    for (let count = 0; count < 5; count++) made.push((await handedOver(subject())).handoff);
    const tenant = made[0]?.tenant ?? "";
    const newestFirst = made.toSorted((one, other) => (one.handoffId > other.handoffId ? -1 : 1));
    expect(await handoffs.list({ tenant }, 10)).toEqual(newestFirst);
    const first = await handoffs.list({ tenant }, 2);
    expect(first).toEqual(newestFirst.slice(0, 2));
    const before = first.at(-1)?.handoffId ?? "";
    expect(await handoffs.list({ tenant, before }, 2)).toEqual(newestFirst.slice(2, 4));
    expect(await handoffs.list({ tenant: "nobody" }, 10)).toEqual([]);
    expect(await handoffs.count({ tenant }, 10)).toBe(5);
    expect(await handoffs.count({ tenant }, 3)).toBe(3);
    expect(await handoffs.count({ tenant: "nobody" }, 10)).toBe(0);
  });
}

function forgetting(subject: () => Subject): void {
  it("removes expired ones in batches, with their sessions, and nothing else", async () => {
    const { store, handoffs, clock } = subject();
    const at = clock.now();
    const old = [];
    for (let count = 0; count < 3; count++) {
      old.push((await handedOver(subject(), { opened: 1, forgetAfter: at + count })).handoff);
    }
    const { handoff: kept } = await handedOver(subject(), { opened: 1, forgetAfter: at + HOUR });
    expect(await handoffs.forgetExpired(at, 10)).toBe(0);
    expect(await handoffs.forgetExpired(at + HOUR, 2)).toBe(2);
    expect(await handoffs.forgetExpired(at + HOUR, 2)).toBe(1);
    expect(await handoffs.forgetExpired(at + HOUR, 2)).toBe(0);
    for (const { link = "", sessions } of old) {
      for (const hash of [link, sessions[0]?.hash ?? ""])
        expect(await store.load({ by: { session: hash } })).toEqual({ now: clock.now() });
    }
    expect((await store.load(linkOf(kept))).handoff).toEqual(kept);
  });
}
