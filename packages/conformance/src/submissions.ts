import type { Change, SubmissionFilter } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { AGENT, cancelled, creation, quietUpdate, TENANT } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const idOf = ({ row }: Change): string => row.submission.submissionId;

/** Four submissions of one tenant, one second apart, and one of another. */
async function population({ store, clock }: Subject) {
  const at = clock.now();
  const a = creation({ at });
  const b = creation({ at: at + 1_000, intakeId: "other" });
  const c = creation({ at: at + 2_000, createdBy: { ...AGENT, id: "someone" } });
  const d = creation({ at: at + 3_000, intakeId: "other" });
  const foreign = creation({ at, tenant: "other" });
  for (const change of [c, a, foreign, d, b]) await store.commit(change);
  const end = quietUpdate(d, at, { to: cancelled(d.row.submission, at) });
  await store.commit(end);
  return { at, a, b, c, d: end, foreign };
}

export function describeSubmissions(open: OpenBackend): void {
  describe("submissions", () => {
    const subject = useBackend(open);
    const list = async (filter: Partial<SubmissionFilter>, page: { before?: string; limit?: number } = {}) => {
      const rows = await subject().submissions.list({ tenant: TENANT, ...filter }, { limit: 100, ...page });
      return rows.map(({ submission }) => submission.submissionId);
    };

    it("list newest first, whole rows, of one tenant", async () => {
      const { a, b, c, d, foreign } = await population(subject());
      const { submissions } = subject();
      expect(await submissions.list({ tenant: TENANT }, { limit: 10 })).toEqual([d.row, c.row, b.row, a.row]);
      expect(await list({ tenant: "other" })).toEqual([idOf(foreign)]);
      expect(await list({ tenant: "nobody" })).toEqual([]);
    });

    it("continue before a position, which need not exist any more", async () => {
      const { a, b, c, d } = await population(subject());
      expect(await list({}, { limit: 2 })).toEqual([idOf(d), idOf(c)]);
      expect(await list({}, { limit: 2, before: idOf(c) })).toEqual([idOf(b), idOf(a)]);
      expect(await list({}, { limit: 2, before: idOf(a) })).toEqual([]);
      expect(await list({}, { limit: 1, before: "sub_zzz" })).toEqual([idOf(d)]);
    });

    it("list oldest first after a position, which need not exist any more", async () => {
      const { a, b, c, d } = await population(subject());
      const { submissions } = subject();
      const oldest = async (filter: Partial<SubmissionFilter>, after: string, limit = 100) =>
        (await submissions.list({ tenant: TENANT, ...filter }, { after, limit })).map(
          ({ submission }) => submission.submissionId,
        );
      expect(await oldest({}, "")).toEqual([a, b, c, d].map(idOf));
      expect(await oldest({}, "", 2)).toEqual([a, b].map(idOf));
      expect(await oldest({}, idOf(b), 2)).toEqual([c, d].map(idOf));
      expect(await oldest({}, idOf(d))).toEqual([]);
      expect(await oldest({}, "sub_0")).toEqual([a, b, c, d].map(idOf));
      expect(await oldest({ intakeIds: ["other"] }, idOf(a))).toEqual([b, d].map(idOf));
      expect(await oldest({ states: ["in_progress", "cancelled"] }, idOf(a))).toEqual([b, c, d].map(idOf));
      expect(await oldest({ states: ["in_progress"], intakeIds: ["other"] }, "")).toEqual([idOf(b)]);
    });

    it("filter by intake, state, creator and time of creation", async () => {
      const { at, a, b, c, d } = await population(subject());
      expect(await list({ intakeIds: ["other"] })).toEqual([idOf(d), idOf(b)]);
      expect(await list({ intakeIds: ["other", "contact"] })).toEqual([d, c, b, a].map(idOf));
      expect(await list({ intakeIds: [] })).toEqual([]);
      const crowd = Array.from({ length: 600 }, (_, index) => `intake-${index}`);
      expect(await list({ intakeIds: [...crowd, "other"] })).toEqual([idOf(d), idOf(b)]);
      expect(await list({ states: ["cancelled"] })).toEqual([idOf(d)]);
      expect(await list({ states: ["in_progress"] })).toEqual([c, b, a].map(idOf));
      expect(await list({ states: ["in_progress", "cancelled"] })).toEqual([d, c, b, a].map(idOf));
      expect(await list({ states: [] })).toEqual([]);
      expect(await list({ createdById: "someone" })).toEqual([idOf(c)]);
      expect(await list({ from: at + 1_000 })).toEqual([d, c, b].map(idOf));
      expect(await list({ until: at + 1_000 })).toEqual([idOf(a)]);
      expect(await list({ from: at + 1_000, until: at + 3_000 })).toEqual([c, b].map(idOf));
    });

    it("[AUDIT-F30] count as expired before a time, if they are editable, whatever their rows say", async () => {
      const { a, b, c, d } = await population(subject());
      const { store, clock, submissions } = subject();
      const overdue = quietUpdate(b, clock.now(), { to: { ...b.row.submission, expiresAt: clock.now() + 10 } });
      await store.commit(overdue);
      const expiredBefore = clock.now() + 11;
      expect(await list({ states: ["expired"], expiredBefore })).toEqual([idOf(b)]);
      expect(await list({ states: ["in_progress"], expiredBefore })).toEqual([c, a].map(idOf));
      expect(await list({ states: ["in_progress", "expired"], expiredBefore })).toEqual([c, b, a].map(idOf));
      expect(await list({ states: ["expired", "cancelled"], expiredBefore }, { limit: 1 })).toEqual([idOf(d)]);
      expect(await list({ states: ["expired", "cancelled"], expiredBefore }, { before: idOf(d) })).toEqual([idOf(b)]);
      expect(await list({ states: ["expired"], expiredBefore, intakeIds: ["contact"] })).toEqual([]);
      expect(await list({ states: ["expired"], expiredBefore: clock.now() + 10 })).toEqual([]);
      expect(await list({ states: ["expired"] })).toEqual([]);
      const oldest = await submissions.list(
        { tenant: TENANT, states: ["in_progress", "expired"], expiredBefore },
        { after: "", limit: 2 },
      );
      expect(oldest.map(({ submission }) => submission.submissionId)).toEqual([a, b].map(idOf));
    });

    it("[LISTS-TOTAL] count what a filter matches, up to a limit", async () => {
      const { at, a } = await population(subject());
      const { submissions } = subject();
      const count = (filter: Partial<SubmissionFilter>, atMost = 100) =>
        submissions.count({ tenant: TENANT, ...filter }, atMost);
      expect(await count({})).toBe(4);
      expect(await count({}, 4)).toBe(4);
      expect(await count({}, 3)).toBe(3);
      expect(await count({ tenant: "other" })).toBe(1);
      expect(await count({ tenant: "nobody" })).toBe(0);
      expect(await count({ intakeIds: ["other"] })).toBe(2);
      expect(await count({ intakeIds: ["other", "contact", "other"] })).toBe(4);
      expect(await count({ intakeIds: ["other", "contact"] }, 3)).toBe(3);
      expect(await count({ intakeIds: [] })).toBe(0);
      const crowd = Array.from({ length: 600 }, (_, index) => `intake-${index}`);
      expect(await count({ intakeIds: [...crowd, "other"] })).toBe(2);
      expect(await count({ states: ["in_progress"] })).toBe(3);
      expect(await count({ states: ["in_progress", "cancelled"], intakeIds: ["other"] })).toBe(2);
      expect(await count({ states: [] })).toBe(0);
      expect(await count({ createdById: "someone" })).toBe(1);
      expect(await count({ from: at + 1_000, until: at + 3_000 })).toBe(2);
      const expiredBefore = a.row.submission.expiresAt + 1;
      expect(await count({ states: ["in_progress"], expiredBefore })).toBe(2);
      expect(await count({ states: ["expired"], expiredBefore })).toBe(1);
      expect(await count({ states: ["in_progress", "expired", "cancelled"], expiredBefore })).toBe(4);
      expect(await count({ states: ["in_progress", "expired", "cancelled"], expiredBefore }, 3)).toBe(3);
    });

    it("list every tenant that has one", async () => {
      const { submissions, store, clock } = subject();
      expect(await submissions.tenants()).toEqual([]);
      for (const tenant of ["b", "a", "b", "c", "a"]) await store.commit(creation({ at: clock.now(), tenant }));
      expect(await submissions.tenants()).toEqual(["a", "b", "c"]);
    });

    it("can be filtered by several criteria, page by page", async () => {
      const { a, b, c, d } = await population(subject());
      expect(await list({ states: ["in_progress"], intakeIds: ["other"] })).toEqual([idOf(b)]);
      expect(await list({ states: ["in_progress", "cancelled"], intakeIds: ["other"] })).toEqual([d, b].map(idOf));
      expect(await list({ states: ["in_progress"], createdById: AGENT.id })).toEqual([b, a].map(idOf));
      const filter = { states: ["in_progress", "cancelled"] as const };
      expect(await list(filter, { limit: 2 })).toEqual([d, c].map(idOf));
      expect(await list(filter, { limit: 2, before: idOf(c) })).toEqual([b, a].map(idOf));
    });
  });
}
