import type {
  Change,
  PublicationFilter,
  PublicationPlace,
  PublishedContent,
  Publishing,
  Submission,
} from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, HOUR, newReviewLink, quietUpdate, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const SECOND = 1000;
const CONTENT: PublishedContent = {
  intakeName: "Theses",
  intakeVersion: "1",
  submittedAt: 1,
  finalizedAt: 2,
  dc: { title: ['On \u{1f600} "numbers"'] },
  fields: [{ path: "degree", value: { name: "Dr.", grade: null } }],
};
const live: Publishing = { status: "live", content: CONTENT };

const finalized = (submission: Submission, at: number): Submission => ({
  ...submission,
  state: "finalized",
  submittedAt: at,
  finalizedAt: at,
});

/** A submission that is finalized and published now; returns its last change. */
async function published({ store, clock }: Subject, details: Partial<Submission> = {}): Promise<Change> {
  const at = clock.now();
  const first = creation({ at, ...details });
  const last = update(first, at, { to: finalized(first.row.submission, at), publish: live });
  for (const change of [first, last]) expect(await store.commit(change)).toMatchObject({ kind: "committed", at });
  return last;
}

const idOf = ({ row }: Change): string => row.submission.submissionId;

async function erase({ store, clock }: Subject, last: Change): Promise<void> {
  const at = clock.now();
  const to: Submission = { ...last.row.submission, fields: {}, tokensRevoked: true, erasedAt: at };
  const erasure = quietUpdate(last, at, { to, erase: true, publish: { status: "erased" } });
  expect(await store.commit(erasure)).toMatchObject({ kind: "committed" });
}

/** What a harvest up to now returns, page by page. */
async function harvest(
  { publications, clock }: Subject,
  filter: Partial<PublicationFilter> = {},
  limit = 2,
): Promise<string[]> {
  const found: string[] = [];
  let after: PublicationPlace | undefined;
  for (;;) {
    const page = { limit, content: false, ...(after && { after }) };
    const rows = await publications.list({ until: clock.now() + 1, ...filter }, page);
    expect(rows.length).toBeLessThanOrEqual(limit);
    found.push(
      ...rows.map(({ submissionId, status }) => (status === "live" ? submissionId : `${status} ${submissionId}`)),
    );
    after = rows.at(-1);
    if (after === undefined) return found;
  }
}

export function describePublications(open: OpenBackend): void {
  describe("publications", () => {
    const subject = useBackend(open);
    describe("list", () => listing(subject));
    describe("change", () => changing(subject));
    describe("horizon", () => horizons(subject));
  });
}

function listing(subject: () => Subject): void {
  it("lists what a commit published, by the time of the commit, and nothing else", async () => {
    const { publications, store, clock } = subject();
    expect(await publications.earliest()).toBeUndefined();
    await store.commit(creation({ at: clock.now() }));
    const one = await published(subject());
    clock.advance(SECOND);
    const other = await published(subject(), { tenant: "other", intakeId: "survey" });
    expect(await harvest(subject())).toEqual([idOf(one), idOf(other)]);
    expect(await publications.earliest()).toBe(clock.now() - SECOND);
    const [first] = await publications.list({ until: clock.now() }, { limit: 9, content: true });
    const { tenant, submissionId, intakeId } = one.row.submission;
    expect(first).toEqual({
      tenant,
      submissionId,
      intakeId,
      stampedAt: clock.now() - SECOND,
      status: "live",
      content: CONTENT,
    });
    const [bare] = await publications.list({ until: clock.now() }, { limit: 9, content: false });
    expect(bare).not.toHaveProperty("content");
    expect(await publications.get(submissionId)).toEqual(first);
    expect(await publications.get("sub_none")).toBeUndefined();
  });

  it("lists equal stamps by id, each once over all pages", async () => {
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) {
      const same = [];
      for (let one = 0; one < 4; one++) same.push(idOf(await published(subject())));
      ids.push(...same.sort());
      subject().clock.advance(SECOND);
    }
    for (const limit of [1, 2, 3, 4, 5, 12, 13]) expect(await harvest(subject(), {}, limit)).toEqual(ids);
  });

  it("is filtered by intake and time, and counted only up to the limit", async () => {
    const { publications, clock } = subject();
    const start = clock.now();
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) {
      ids.push(idOf(await published(subject(), { intakeId: index % 2 === 0 ? "even" : "odd" })));
      clock.advance(SECOND);
    }
    const at = (index: number): number => start + index * SECOND;
    expect(await harvest(subject(), { intakeId: "even" })).toEqual([ids[0], ids[2], ids[4]]);
    expect(await harvest(subject(), { from: at(2), until: at(5) })).toEqual(ids.slice(2, 5));
    expect(await harvest(subject(), { from: at(1), until: at(5), intakeId: "odd" })).toEqual([ids[1], ids[3]]);
    expect(await harvest(subject(), { intakeId: "none" })).toEqual([]);
    const until = clock.now();
    expect(await publications.count({ until }, 100)).toBe(6);
    expect(await publications.count({ until }, 4)).toBe(4);
    expect(await publications.count({ from: at(1), until: at(5), intakeId: "odd" }, 100)).toBe(2);
  });
}

function changing(subject: () => Subject): void {
  it("an erased submission is a tombstone with a new stamp, even after it was removed", async () => {
    const { publications, retention, clock } = subject();
    const gone = await published(subject());
    const stays = await published(subject());
    clock.advance(SECOND);
    await erase(subject(), gone);
    expect(await harvest(subject())).toEqual([idOf(stays), `erased ${idOf(gone)}`]);
    expect(await publications.get(idOf(gone))).toMatchObject({ status: "erased", stampedAt: clock.now() });
    const [, tombstone] = await publications.list({ until: clock.now() + 1 }, { limit: 9, content: true });
    expect(tombstone).not.toHaveProperty("content");
    clock.advance(HOUR);
    expect(await retention.removeErased(clock.now(), 10)).toBe(1);
    expect(await harvest(subject())).toEqual([idOf(stays), `erased ${idOf(gone)}`]);
  });

  it("published again, it has the new content and stamp", async () => {
    const { publications, store, clock } = subject();
    const last = await published(subject());
    clock.advance(SECOND);
    const content = { ...CONTENT, fields: [] };
    const to = { ...last.row.submission, fields: {} };
    await store.commit(update(last, clock.now(), { to, publish: { status: "live", content } }));
    expect(await publications.get(idOf(last))).toMatchObject({ stampedAt: clock.now(), content });
  });

  it("an intake is withdrawn and restored in batches; erased records stay erased", async () => {
    const { publications, clock } = subject();
    const one = await published(subject());
    const two = await published(subject());
    const gone = await published(subject());
    const elsewhere = await published(subject(), { intakeId: "survey" });
    await erase(subject(), gone);
    const { intakeId } = one.row.submission;
    clock.advance(SECOND);
    expect(await publications.restamp(intakeId, "withdrawn", 1)).toBe(1);
    expect(await publications.restamp(intakeId, "withdrawn", 10)).toBe(1);
    expect(await publications.restamp(intakeId, "withdrawn", 10)).toBe(0);
    const withdrawn = [one, two].map((change) => `withdrawn ${idOf(change)}`);
    const before = await harvest(subject());
    expect(before.slice(0, 2).sort()).toEqual([`erased ${idOf(gone)}`, idOf(elsewhere)].sort());
    expect(before.slice(2)).toEqual(withdrawn);
    expect(await publications.get(idOf(one))).not.toHaveProperty("content");
    clock.advance(SECOND);
    expect(await publications.restamp(intakeId, "live", 10)).toBe(2);
    expect(await publications.get(idOf(one))).toMatchObject({ status: "live", content: CONTENT });
    expect((await harvest(subject(), { from: clock.now() })).sort()).toEqual([idOf(one), idOf(two)].sort());
  });

  it("with review links in the same commit, both are written; refused with it, neither is", async () => {
    const { publications, store, clock } = subject();
    const at = clock.now();
    const first = creation({ at });
    await store.commit(first);
    const link = newReviewLink(first, { at });
    const to = finalized(first.row.submission, at);
    const last = update(first, at, { to, publish: live, side: [{ kind: "review_link", link }] });
    await store.commit(last);
    expect((await store.load({ by: { reviewLink: link.hash } })).link).toEqual(link);
    expect(await publications.get(idOf(last))).toMatchObject({ status: "live", stampedAt: at });
    clock.advance(SECOND);
    expect(await store.commit(update(first, at, { to, publish: live }))).toMatchObject({ kind: "stale" });
    expect(await publications.get(idOf(last))).toMatchObject({ stampedAt: at });
  });
}

function horizons(subject: () => Subject): void {
  it("moves with the clock and is never ahead of it", async () => {
    const { publications, clock } = subject();
    await published(subject());
    const first = await publications.horizon();
    expect(first).toBeLessThanOrEqual(clock.now());
    clock.advance(HOUR);
    const second = await publications.horizon();
    expect(second).toBeLessThanOrEqual(clock.now());
    expect(second).toBeGreaterThan(first);
  });

  it("what appears after the horizon was read is not stamped before it", async () => {
    const { publications, store, clock } = subject();
    const seen = new Set<string>();
    const late: string[] = [];
    for (let round = 0; round < 20; round++) {
      const at = clock.now();
      const commits = Array.from({ length: 10 }, () => {
        const change = creation({ at });
        return store.commit({ ...change, publish: live });
      });
      const horizon = await publications.horizon();
      clock.advance(1);
      for (const { submissionId } of await publications.list({ until: horizon }, { limit: 1000, content: false })) {
        seen.add(submissionId);
      }
      await Promise.all(commits);
      for (const { submissionId, stampedAt } of await publications.list(
        { until: horizon },
        { limit: 1000, content: false },
      )) {
        if (!seen.has(submissionId)) late.push(`${submissionId} of ${stampedAt}, horizon ${horizon}`);
      }
    }
    expect(late).toEqual([]);
  });
}
