import type { Backend, Change, ExpiredRecord, KeyWrite, ScopedKey } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import {
  cancelled,
  creation,
  dropping,
  HOUR,
  INTAKE,
  keyWrite,
  newHash,
  quietUpdate,
  TENANT,
  update,
} from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";
import { describeKeyRecords } from "./key-records.ts";

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
    describeKeyRecords(subject);
    describe("lifetime of a record", () => lifetime(subject));
    describe("the queue of a key", () => line(subject));
    it("is healthy while open, and reports otherwise without throwing when closed", async () => {
      const { idempotency, close } = subject();
      expect(await idempotency.health()).toMatchObject({ healthy: true });
      await close();
      expect(await idempotency.health()).toMatchObject({ healthy: false });
    });
  });
}

function records(subject: () => Subject): void {
  it("returns what was recorded, with the time and the submission", async () => {
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
  it("returns the first caller's record, before it checks the revision or the deadline", async () => {
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

  it("replaces the record that it names, and no other", async () => {
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

  it("may name a record to replace that does not exist", async () => {
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

  it("continues while the submission is open, and for its time after the end", async () => {
    const { idempotency, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 10, keepAfterEndMs: 100 });
    const first = await commit(subject(), creation({ at: clock.now() }, { key }));
    clock.advance(1_000);
    expect(await forgetExpired(subject(), 10)).toEqual([]);
    expect(await idempotency.find(scoped(key))).toBeDefined();
    const second = await commit(subject(), quietUpdate(first, clock.now()));
    await commit(subject(), update(second, clock.now(), { to: cancelled(second.row.submission, clock.now()) }));
    clock.advance(99);
    expect(await idempotency.find(scoped(key))).toBeDefined();
    expect(await forgetExpired(subject(), 10)).toEqual([]);
    clock.advance(1);
    expect(await idempotency.find(scoped(key))).toBeUndefined();
    const { row } = first;
    expect(await forgetExpired(subject(), 10)).toEqual([
      {
        ...scoped(key),
        submissionId: row.submission.submissionId,
        recordedAt: expect.any(Number),
        expiresAt: key.expiresAt,
      },
    ]);
  });

  it("lasts at least until its expiry, if the submission ended early", async () => {
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

  it("is not dropped while it is live, nor by a commit on another submission, nor by one that is refused", async () => {
    const { idempotency, store, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 10 });
    const { row } = await commit(subject(), creation({ at: clock.now() }, { key }));
    const other = await commit(subject(), creation({ at: clock.now() }));
    expect(await store.commit(dropping(row, key.ref, clock.now()))).toMatchObject({ kind: "committed" });
    expect(await idempotency.find(scoped(key))).toBeDefined();
    clock.advance(10);
    await store.commit(dropping(other.row, key.ref, clock.now()));
    expect(await store.commit(dropping(row, key.ref, clock.now()))).toMatchObject({ kind: "stale" });
    expect(await idempotency.expired(10)).toHaveLength(1);
  });

  it("removes expired ones in batches, and only them", async () => {
    const { idempotency, clock } = subject();
    for (let made = 0; made < 5; made += 1) {
      await commit(subject(), creation({ at: clock.now() }, { key: keyWrite({ expiresAt: clock.now() + 10 }) }));
    }
    const alive = keyWrite({ expiresAt: clock.now() + 11 });
    await commit(subject(), creation({ at: clock.now() }, { key: alive }));
    expect(await forgetExpired(subject(), 10)).toEqual([]);
    clock.advance(10);
    expect(await forgetExpired(subject(), 2)).toHaveLength(2);
    expect(await forgetExpired(subject(), 2)).toHaveLength(2);
    expect(await forgetExpired(subject(), 2)).toHaveLength(1);
    expect(await forgetExpired(subject(), 2)).toEqual([]);
    expect(await idempotency.find(scoped(alive))).toBeDefined();
  });
}

/** Like the sweep: each record is deleted by a commit on its submission. */
async function forgetExpired({ idempotency, store }: Subject, limit: number): Promise<ExpiredRecord[]> {
  const expired = await idempotency.expired(limit);
  for (const { tenant, submissionId: id, operation, hash } of expired) {
    const { now, submission: row } = await store.load({ by: { id, tenant } });
    if (row === undefined) throw new Error("the record outlived its submission");
    const change = dropping(row, { operation, hash }, now);
    expect(await store.commit(change)).toMatchObject({ kind: "committed" });
    expect(await store.load({ by: { id, tenant }, key: { operation, hash } })).not.toHaveProperty("record");
  }
  return expired;
}

function line(subject: () => Subject): void {
  const key = (): ScopedKey => scoped(keyWrite({ expiresAt: 0 }));

  it("admits one at a time, in order of arrival", async () => {
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

  it("does not delay other keys", async () => {
    const { idempotency } = subject();
    const own = key();
    const keys: ScopedKey[] = [own, { ...own, tenant: "other" }, { ...own, intakeId: "other" }, key()];
    keys.push({ ...own, operation: "submit" });
    const exits = await Promise.all(keys.map((one) => idempotency.enter(one, { timeoutMs: 50, maxWaiters: 0 })));
    expect(exits.every((leave) => leave !== undefined)).toBe(true);
    for (const leave of exits) leave?.();
  });

  it("[AUDIT-F5] times out after the full wait, and the next one can enter", async () => {
    const { idempotency } = subject();
    const one = key();
    const leave = await idempotency.enter(one, LIMITS);
    const began = performance.now();
    expect(await idempotency.enter(one, { timeoutMs: 200, maxWaiters: 5 })).toBeUndefined();
    // Timers may fire a little early.
    expect(performance.now() - began).toBeGreaterThan(195);
    leave?.();
    const next = await idempotency.enter(one, LIMITS);
    expect(next).toBeTypeOf("function");
    next?.();
  });

  it("refuses more callers when the queue is full", async () => {
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
