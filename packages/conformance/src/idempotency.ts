import type { Backend, Change, KeyWrite, ScopedKey } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { cancelled, creation, HOUR, INTAKE, keyWrite, newHash, quietUpdate, TENANT, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const scoped = (key: KeyWrite): ScopedKey => ({ ...key.ref, tenant: TENANT, intakeId: INTAKE });
const LIMITS = { timeoutMs: 10_000, maxWaiters: 100 };

async function commit(backend: Backend, change: Change): Promise<Change> {
  expect(await backend.store.commit(change)).toMatchObject({ kind: "committed" });
  return change;
}

export function describeIdempotency(open: OpenBackend): void {
  describe("idempotency", () => {
    const subject = useBackend(open);
    describe("records", () => records(subject));
    describe("commit with a key", () => taken(subject));
    describe("how long a record lives", () => lifetime(subject));
    describe("the line of a key", () => line(subject));
    it("is healthy while open, and says so without throwing when closed", async () => {
      const { idempotency, close } = subject();
      expect(await idempotency.health()).toMatchObject({ healthy: true });
      await close();
      expect(await idempotency.health()).toMatchObject({ healthy: false });
    });
  });
}

function records(subject: () => Subject): void {
  it("gives back what was recorded, with when and for which submission", async () => {
    const { idempotency, clock } = subject();
    const key = keyWrite({
      expiresAt: clock.now() + HOUR,
      answerBy: clock.now() + 5,
      keepAfterEndMs: HOUR,
      failed: true,
    });
    const change = await commit(subject(), creation({ at: clock.now() }, { key }));
    const { submissionId } = change.row.submission;
    expect(await idempotency.find(scoped(key))).toEqual({ ...key, submissionId, recordedAt: clock.now() });
  });

  it("leaves out what was not recorded", async () => {
    const { idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    await commit(subject(), creation({ at: clock.now() }, { key }));
    const found = await idempotency.find(scoped(key));
    expect(found).toBeDefined();
    expect(found).not.toHaveProperty("answerBy");
    expect(found).not.toHaveProperty("keepAfterEndMs");
  });

  it("tells all keys of a submission, of every operation, and nobody else's", async () => {
    const { idempotency, clock } = subject();
    const at = clock.now();
    const [kept, other] = [
      keyWrite({ expiresAt: at + HOUR, keepAfterEndMs: HOUR }),
      keyWrite({ expiresAt: at + HOUR }),
    ];
    const timed = keyWrite({ expiresAt: at + HOUR, ref: { operation: "setFields", hash: newHash() } });
    const first = await commit(subject(), creation({ at }, { key: kept }));
    await commit(subject(), update(first, at, { key: timed }));
    await commit(subject(), creation({ at }, { key: other }));
    const { submissionId } = first.row.submission;
    const keys = await idempotency.keysOf({ tenant: TENANT, submissionId });
    expect(new Set(keys)).toEqual(new Set([scoped(kept), scoped(timed)]));
    expect(await idempotency.keysOf({ tenant: "other", submissionId })).toEqual([]);
  });

  it("scopes a key by tenant, intake, operation and hash", async () => {
    const { idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    await commit(subject(), creation({ at: clock.now() }, { key }));
    const own = scoped(key);
    expect(await idempotency.find({ ...own, tenant: "other" })).toBeUndefined();
    expect(await idempotency.find({ ...own, intakeId: "other" })).toBeUndefined();
    expect(await idempotency.find({ ...own, operation: "submit" })).toBeUndefined();
    expect(await idempotency.find({ ...own, hash: newHash() })).toBeUndefined();
    for (const elsewhere of [{ tenant: "other" }, { intakeId: "other" }]) {
      await commit(subject(), creation({ at: clock.now(), ...elsewhere }, { key }));
    }
  });
}

function taken(subject: () => Subject): void {
  it("answers the record of whoever was first, before it looks at the revision or the deadline", async () => {
    const { store, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const first = await commit(subject(), creation({ at: clock.now() }, { key }));
    const expected = { revision: 9, notAfter: clock.now() - 1 };
    const rival = update(first, clock.now(), { expect: expected, key: { ...key, fingerprint: newHash() } });
    const record = { ...key, submissionId: first.row.submission.submissionId, recordedAt: clock.now() };
    expect(await store.commit(rival)).toEqual({ kind: "key_taken", record });
  });

  it("lets exactly one of many concurrent creates with one key commit", async () => {
    const { store, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const rivals = Array.from({ length: 20 }, () => creation({ at: clock.now() }, { key }));
    const answers = await Promise.all(rivals.map((rival) => store.commit(rival)));
    const winner = rivals.find((_, index) => answers[index]?.kind === "committed");
    expect(answers.filter(({ kind }) => kind === "committed")).toHaveLength(1);
    for (const answer of answers) {
      if (answer.kind === "committed") continue;
      const { submissionId } = winner?.row.submission ?? {};
      expect(answer).toMatchObject({ kind: "key_taken", record: { submissionId } });
    }
  });

  it("takes the place of the record that it names, and of no other", async () => {
    const { store, idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const first = await commit(subject(), creation({ at: clock.now() }, { key }));
    clock.advance(5);
    const wrong = { ...key, answer: "second", replaces: newHash() };
    expect((await store.commit(update(first, clock.now(), { key: wrong }))).kind).toBe("key_taken");
    const right = { ...key, answer: "second", replaces: key.fingerprint };
    await commit(subject(), update(first, clock.now(), { key: right }));
    const found = await idempotency.find(scoped(key));
    expect(found).toMatchObject({ answer: "second", recordedAt: clock.now() });
    expect(found).not.toHaveProperty("replaces");
  });

  it("may name a record to replace that is not there", async () => {
    const { clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + HOUR, replaces: newHash() });
    await commit(subject(), creation({ at: clock.now() }, { key }));
  });

  it("finds a key free again once its record has expired", async () => {
    const { store, idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 10 });
    await commit(subject(), creation({ at: clock.now() }, { key }));
    clock.advance(9);
    const rival = creation({ at: clock.now() }, { key: { ...key, expiresAt: clock.now() + 10 } });
    expect((await store.commit(rival)).kind).toBe("key_taken");
    clock.advance(1);
    await commit(subject(), rival);
    expect((await idempotency.find(scoped(key)))?.submissionId).toBe(rival.row.submission.submissionId);
  });
}

function lifetime(subject: () => Subject): void {
  it("ends at its expiry", async () => {
    const { store, idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 10 });
    const { row } = await commit(subject(), creation({ at: clock.now() }, { key }));
    clock.advance(9);
    expect(await idempotency.find(scoped(key))).toBeDefined();
    clock.advance(1);
    expect(await idempotency.find(scoped(key))).toBeUndefined();
    const by = { id: row.submission.submissionId, tenant: TENANT };
    expect(await store.load({ by, key: key.ref })).not.toHaveProperty("record");
  });

  it("goes on while the submission runs, and for its time after the end", async () => {
    const { idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 10, keepAfterEndMs: 100 });
    const first = await commit(subject(), creation({ at: clock.now() }, { key }));
    clock.advance(1_000);
    expect(await idempotency.forgetExpired(10)).toBe(0);
    expect(await idempotency.find(scoped(key))).toBeDefined();
    const second = await commit(subject(), quietUpdate(first, clock.now()));
    await commit(subject(), update(second, clock.now(), { to: cancelled(second.row.submission, clock.now()) }));
    clock.advance(99);
    expect(await idempotency.find(scoped(key))).toBeDefined();
    expect(await idempotency.forgetExpired(10)).toBe(0);
    clock.advance(1);
    expect(await idempotency.find(scoped(key))).toBeUndefined();
    expect(await idempotency.forgetExpired(10)).toBe(1);
  });

  it("lasts until its expiry at least, when the submission ended early", async () => {
    const { idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 500, keepAfterEndMs: 100 });
    const first = await commit(subject(), creation({ at: clock.now() }));
    await commit(subject(), update(first, clock.now(), { key, to: cancelled(first.row.submission, clock.now()) }));
    clock.advance(499);
    expect(await idempotency.find(scoped(key))).toBeDefined();
    clock.advance(1);
    expect(await idempotency.find(scoped(key))).toBeUndefined();
  });

  it("a record made by the commit that ends its submission is kept for its time", async () => {
    const { idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 10, keepAfterEndMs: 100 });
    const first = await commit(subject(), creation({ at: clock.now() }));
    await commit(subject(), update(first, clock.now(), { key, to: cancelled(first.row.submission, clock.now()) }));
    clock.advance(99);
    expect(await idempotency.find(scoped(key))).toBeDefined();
    clock.advance(1);
    expect(await idempotency.find(scoped(key))).toBeUndefined();
  });

  it("forgets the dead in batches, and only them", async () => {
    const { idempotency, clock } = subject();
    for (let made = 0; made < 5; made += 1) {
      await commit(subject(), creation({ at: clock.now() }, { key: keyWrite({ expiresAt: clock.now() + 10 }) }));
    }
    const alive = keyWrite({ expiresAt: clock.now() + 11 });
    await commit(subject(), creation({ at: clock.now() }, { key: alive }));
    expect(await idempotency.forgetExpired(10)).toBe(0);
    clock.advance(10);
    expect(await idempotency.forgetExpired(2)).toBe(2);
    expect(await idempotency.forgetExpired(2)).toBe(2);
    expect(await idempotency.forgetExpired(2)).toBe(1);
    expect(await idempotency.forgetExpired(2)).toBe(0);
    expect(await idempotency.find(scoped(alive))).toBeDefined();
  });
}

function line(subject: () => Subject): void {
  const key = (): ScopedKey => scoped(keyWrite({ expiresAt: 0 }));

  it("lets one in at a time, in order of arrival", async () => {
    const { idempotency } = subject();
    const one = key();
    const order: number[] = [];
    let inside = 0;
    const visit = async (guest: number) => {
      const leave = await idempotency.enter(one, LIMITS);
      inside += 1;
      expect(inside).toBe(1);
      order.push(guest);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      leave?.();
    };
    await Promise.all([0, 1, 2, 3, 4].map(visit));
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it("keeps no one waiting for another key", async () => {
    const { idempotency } = subject();
    const own = key();
    const keys: ScopedKey[] = [own, { ...own, tenant: "other" }, { ...own, intakeId: "other" }, key()];
    keys.push({ ...own, operation: "submit" });
    const exits = await Promise.all(keys.map((one) => idempotency.enter(one, { timeoutMs: 50, maxWaiters: 0 })));
    expect(exits.every((leave) => leave !== undefined)).toBe(true);
    for (const leave of exits) leave?.();
  });

  it("gives up after the timeout, and is free for the next", async () => {
    const { idempotency } = subject();
    const one = key();
    const leave = await idempotency.enter(one, LIMITS);
    expect(await idempotency.enter(one, { timeoutMs: 20, maxWaiters: 5 })).toBeUndefined();
    leave?.();
    const next = await idempotency.enter(one, LIMITS);
    expect(next).toBeTypeOf("function");
    next?.();
  });

  it("turns away whoever finds the line full", async () => {
    const { idempotency } = subject();
    const one = key();
    const leave = await idempotency.enter(one, LIMITS);
    const waiting = [1, 2].map(() => idempotency.enter(one, { timeoutMs: 5_000, maxWaiters: 2 }));
    expect(await idempotency.enter(one, { timeoutMs: 5_000, maxWaiters: 2 })).toBeUndefined();
    leave?.();
    for (const admitted of waiting) (await admitted)?.();
  });

  it("leaving twice admits only one", async () => {
    const { idempotency } = subject();
    const one = key();
    const leave = await idempotency.enter(one, LIMITS);
    const second = idempotency.enter(one, LIMITS);
    const third = idempotency.enter(one, { timeoutMs: 30, maxWaiters: 5 });
    leave?.();
    leave?.();
    expect(await second).toBeTypeOf("function");
    expect(await third).toBeUndefined();
    (await second)?.();
  });
}
