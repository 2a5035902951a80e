import type { Change } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { cancelled, creation, HOUR, quietUpdate, TENANT } from "./fixtures.ts";
import { type OpenBackend, useBackend } from "./harness.ts";

const dueOf = (...changes: Change[]) =>
  changes.map(({ tenant, row }) => ({ tenant, submissionId: row.submission.submissionId }));

export function describeDeadlines(open: OpenBackend): void {
  describe("deadlines", () => {
    const subject = useBackend(open);

    it("report the store's time", async () => {
      const { deadlines, clock } = subject();
      clock.advance(42);
      expect(await deadlines.now()).toBe(clock.now());
    });

    it("find editable submissions that expired, of all tenants, earliest first", async () => {
      const { store, deadlines, clock } = subject();
      const at = clock.now();
      const late = creation({ at, ttlMs: 2 * HOUR });
      const early = creation({ at, ttlMs: HOUR, tenant: "other" });
      const over = creation({ at, ttlMs: HOUR });
      for (const change of [late, early, over]) await store.commit(change);
      await store.commit(quietUpdate(over, at, { to: cancelled(over.row.submission, at) }));
      expect(await deadlines.expired(at + HOUR, 10)).toEqual([]);
      expect(await deadlines.expired(at + HOUR + 1, 10)).toEqual(dueOf(early));
      expect(await deadlines.expired(at + 3 * HOUR, 10)).toEqual(dueOf(early, late));
      expect(await deadlines.expired(at + 3 * HOUR, 1)).toEqual(dueOf(early));
    });

    it("follow a changed expiry, and a submission that was reopened", async () => {
      const { store, deadlines, clock } = subject();
      const at = clock.now();
      const first = creation({ at, ttlMs: HOUR });
      await store.commit(first);
      const submittedAt = at;
      const delivery = { deliveryId: "dlv_1", attemptCount: 0, tries: 0 };
      const locked = quietUpdate(first, at, {
        to: { ...first.row.submission, state: "submitted", submittedAt, delivery },
      });
      await store.commit(locked);
      expect(await deadlines.expired(at + 9 * HOUR, 10)).toEqual([]);
      expect(await deadlines.warnable(at + 9 * HOUR, 10)).toEqual([]);
      const to = { ...locked.row.submission, state: "rejected" as const, expiresAt: at + 5 * HOUR };
      await store.commit(quietUpdate(locked, at, { to }));
      expect(await deadlines.expired(at + 5 * HOUR, 10)).toEqual([]);
      expect(await deadlines.expired(at + 5 * HOUR + 1, 10)).toEqual(dueOf(first));
    });

    it("find whom to warn after 80 % of the time, until they were warned", async () => {
      const { store, deadlines, clock } = subject();
      const at = clock.now();
      const second = creation({ at, ttlMs: 2_000 });
      const first = creation({ at, ttlMs: 1_000 });
      for (const change of [second, first]) await store.commit(change);
      expect(await deadlines.warnable(at + 800, 10)).toEqual([]);
      expect(await deadlines.warnable(at + 801, 10)).toEqual(dueOf(first));
      expect(await deadlines.warnable(at + 9_999, 10)).toEqual(dueOf(first, second));
      expect(await deadlines.warnable(at + 9_999, 1)).toEqual(dueOf(first));
      const { warnAt: _given, ...warned } = first.row.submission;
      await store.commit(quietUpdate(first, at, { to: warned }));
      expect(await deadlines.warnable(at + 9_999, 10)).toEqual([
        { tenant: TENANT, submissionId: second.row.submission.submissionId },
      ]);
    });
  });
}
