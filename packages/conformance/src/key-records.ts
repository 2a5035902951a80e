import type { Backend, Change, KeyRef, KeyWrite, ScopedKey, SubmissionRow } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, dropping, HOUR, INTAKE, keyWrite, newHash, TENANT } from "./fixtures.ts";
import type { Subject } from "./harness.ts";

const scoped = (key: KeyWrite): ScopedKey => ({ ...key.ref, tenant: TENANT, intakeId: INTAKE });

async function commit(backend: Backend, change: Change): Promise<Change> {
  expect(await backend.store.commit(change)).toMatchObject({ kind: "committed" });
  return change;
}

/** What an operator does with single records. */
export function describeKeyRecords(subject: () => Subject): void {
  describe("search by hash", () => search(subject));
  describe("deletion", () => deletion(subject));
}

function search(subject: () => Subject): void {
  it("finds a key in all intakes and operations of its tenant, by the beginning of its hash", async () => {
    const { idempotency, clock } = subject();
    const hash = newHash();
    const record = (intakeId: string, operation: KeyRef["operation"], tenant = TENANT) => {
      const key = keyWrite({ expiresAt: clock.now() + HOUR, ref: { operation, hash } });
      return commit(subject(), creation({ at: clock.now(), intakeId, tenant }, { key }));
    };
    const [late, early, submitted] = [
      await record("b", "create"),
      await record("a", "setFields"),
      await record("b", "submit"),
    ];
    await record("a", "create", "other");
    const unrelated = keyWrite({ expiresAt: clock.now() + HOUR });
    await commit(subject(), creation({ at: clock.now(), intakeId: "a" }, { key: unrelated }));
    const expected = [early, late, submitted].map(({ key, row: { submission } }) => ({
      ...key,
      submissionId: submission.submissionId,
      recordedAt: clock.now(),
      tenant: TENANT,
      intakeId: submission.intakeId,
    }));
    for (const beginning of [hash, hash.slice(0, 16), hash.slice(0, 15)]) {
      expect(await idempotency.search({ tenant: TENANT, hash: beginning }, 10)).toEqual(expected);
    }
    expect(await idempotency.search({ tenant: TENANT, hash }, 2)).toEqual(expected.slice(0, 2));
    expect(await idempotency.search({ tenant: "nobody", hash }, 10)).toEqual([]);
    expect(await idempotency.search({ tenant: TENANT, hash: newHash() }, 10)).toEqual([]);
  });

  it("finds expired records until they are deleted", async () => {
    const { idempotency, store, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + 10 });
    const { row } = await commit(subject(), creation({ at: clock.now() }, { key }));
    clock.advance(10);
    const where = { tenant: TENANT, hash: key.ref.hash };
    expect(await idempotency.search(where, 10)).toHaveLength(1);
    await store.commit(dropping(row, key.ref, clock.now()));
    expect(await idempotency.search(where, 10)).toEqual([]);
  });
}

function deletion(subject: () => Subject): void {
  it("frees a key whose record is live, by a commit on its submission that is not refused", async () => {
    const { idempotency, store, clock } = subject();
    const key = keyWrite({ expiresAt: clock.now() + HOUR, keepAfterEndMs: HOUR });
    const { row } = await commit(subject(), creation({ at: clock.now() }, { key }));
    const other = await commit(subject(), creation({ at: clock.now() }));
    const deleting = (of: SubmissionRow) => {
      const { dropKeys: dropLiveKeys = [], ...change } = dropping(of, key.ref, clock.now());
      return { ...change, dropLiveKeys };
    };
    await commit(subject(), deleting(other.row));
    expect(await store.commit({ ...deleting(row), expect: { revision: 9 } })).toMatchObject({ kind: "stale" });
    expect(await idempotency.find(scoped(key))).toBeDefined();
    await commit(subject(), deleting(row));
    expect(await idempotency.find(scoped(key))).toBeUndefined();
    const by = { id: row.submission.submissionId, tenant: TENANT };
    expect(await store.load({ by, key: key.ref })).not.toHaveProperty("record");
    const next = await commit(subject(), creation({ at: clock.now() }, { key }));
    expect((await idempotency.find(scoped(key)))?.submissionId).toBe(next.row.submission.submissionId);
  });
}
