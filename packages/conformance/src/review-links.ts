import type { Change, ReviewLink } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, HOUR, newHash, newReviewLink, quietUpdate, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const sideOf = (...links: ReviewLink[]) => ({ side: links.map((link) => ({ kind: "review_link" as const, link })) });
const by = ({ hash }: ReviewLink) => ({ by: { reviewLink: hash } });

/** A submission with one link, created by the second commit. */
async function asked(
  { store, clock }: Subject,
  details: Partial<ReviewLink> = {},
): Promise<{ link: ReviewLink; last: Change }> {
  const created = creation({ at: clock.now() });
  await store.commit(created);
  const link = newReviewLink(created, { at: clock.now(), ...details });
  const last = quietUpdate(created, clock.now(), sideOf(link));
  expect(await store.commit(last)).toMatchObject({ kind: "committed" });
  return { link, last };
}

export function describeReviewLinks(open: OpenBackend): void {
  describe("review links", () => {
    const subject = useBackend(open);
    describe("load by link", () => loading(subject));
    describe("with the row", () => committing(subject));
    describe("forgetting", () => forgetting(subject));
  });
}

function loading(subject: () => Subject): void {
  it("returns only the store's time for an unknown hash", async () => {
    const { store, clock } = subject();
    await asked(subject());
    expect(await store.load({ by: { reviewLink: newHash() } })).toEqual({ now: clock.now() });
  });

  it("finds link and submission, with the newest row", async () => {
    const { store, clock } = subject();
    const { link, last } = await asked(subject(), { email: "jané@example.com" });
    const { submission } = await store.load({ by: { id: link.submissionId, tenant: link.tenant } });
    expect(await store.load(by(link))).toEqual({ now: clock.now(), submission, link });
    const written = update(last, clock.now());
    await store.commit(written);
    expect(await store.load(by(link))).toMatchObject({ link, submission: { submission: written.row.submission } });
  });

  it("is neither a token nor a session", async () => {
    const { store, clock } = subject();
    const { link } = await asked(subject());
    expect(await store.load({ by: { token: link.hash } })).toEqual({ now: clock.now() });
    expect(await store.load({ by: { session: link.hash } })).toEqual({ now: clock.now() });
  });
}

function committing(subject: () => Subject): void {
  it("a link with the same id is replaced completely; the previous one stops working", async () => {
    const { store, clock } = subject();
    const { link, last } = await asked(subject());
    const anew: ReviewLink = { ...link, hash: newHash(), createdAt: clock.now() + 1 };
    const next = quietUpdate(last, clock.now(), sideOf(anew));
    await store.commit(next);
    expect(await store.load(by(link))).toEqual({ now: clock.now() });
    expect((await store.load(by(anew))).link).toEqual(anew);
    const spent: ReviewLink = { ...anew, spentAt: clock.now() };
    await store.commit(update(next, clock.now(), sideOf(spent)));
    expect((await store.load(by(anew))).link).toEqual(spent);
  });

  it("several can be in one commit, without affecting other submissions", async () => {
    const { store, clock } = subject();
    const { link, last } = await asked(subject());
    const { link: foreign } = await asked(subject());
    const more = [newReviewLink(last, { at: clock.now() }), newReviewLink(last, { at: clock.now() })];
    await store.commit(quietUpdate(last, clock.now(), sideOf(...more)));
    for (const one of [link, foreign, ...more]) expect((await store.load(by(one))).link).toEqual(one);
  });

  it("a refused change leaves no link behind, and uses none up", async () => {
    const { store, clock } = subject();
    const { link, last } = await asked(subject());
    const other = newReviewLink(last, { at: clock.now() });
    const { side } = sideOf(other, { ...link, spentAt: clock.now() });
    const notAfter = clock.now() - 1;
    expect(await store.commit(quietUpdate(last, clock.now(), { expect: { revision: 9 }, side }))).toMatchObject({
      kind: "stale",
    });
    expect(
      await store.commit(quietUpdate(last, clock.now(), { expect: { revision: 2, notAfter }, side })),
    ).toMatchObject({ kind: "too_late" });
    expect((await store.load(by(link))).link).toEqual(link);
    expect(await store.load(by(other))).toEqual({ now: clock.now() });
  });

  it("of many uses on the same revision, one succeeds", async () => {
    const { store, clock } = subject();
    const { link, last } = await asked(subject());
    const spending = Array.from({ length: 8 }, (_, index) => ({ ...link, spentAt: clock.now() + index }));
    const answers = await Promise.all(spending.map((spent) => store.commit(update(last, clock.now(), sideOf(spent)))));
    expect(answers.filter(({ kind }) => kind === "committed")).toHaveLength(1);
    const winner = spending[answers.findIndex(({ kind }) => kind === "committed")];
    expect((await store.load(by(link))).link).toEqual(winner);
  });
}

function forgetting(subject: () => Subject): void {
  it("removes expired ones in batches, and nothing else", async () => {
    const { store, reviewLinks, clock } = subject();
    const at = clock.now();
    const old = [];
    for (let count = 0; count < 3; count++) old.push((await asked(subject(), { forgetAfter: at + count })).link);
    const { link: kept } = await asked(subject(), { forgetAfter: at + HOUR });
    expect(await reviewLinks.forgetExpired(at, 10)).toBe(0);
    expect(await reviewLinks.forgetExpired(at + HOUR, 2)).toBe(2);
    expect(await reviewLinks.forgetExpired(at + HOUR, 2)).toBe(1);
    expect(await reviewLinks.forgetExpired(at + HOUR, 2)).toBe(0);
    for (const link of old) expect(await store.load(by(link))).toEqual({ now: clock.now() });
    expect((await store.load(by(kept))).link).toEqual(kept);
  });
}
