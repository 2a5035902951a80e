import type { Change } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, HOUR, TENANT, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const hashOf = (change: Change): string => change.token?.hash ?? "";

/** A submission with this many versions, one millisecond apart. */
async function written({ store, clock }: Subject, versions: number, first: Change): Promise<Change[]> {
  const changes = [first];
  await store.commit(first);
  for (let last = first; changes.length < versions; ) {
    clock.advance(1);
    last = update(last, clock.now());
    await store.commit(last);
    changes.push(last);
  }
  return changes;
}

export function describeTokens(open: OpenBackend): void {
  describe("tokens", () => {
    const subject = useBackend(open);
    describe("lookup", () => lookUp(subject));
    describe("forgetting", () => forgetting(subject));
    it("is healthy while open, and reports otherwise without throwing when closed", async () => {
      const { tokens, close } = subject();
      expect(await tokens.health()).toMatchObject({ healthy: true });
      await close();
      expect(await tokens.health()).toMatchObject({ healthy: false });
    });
  });
}

function lookUp(subject: () => Subject): void {
  it("finds a token by its hash, stale, current or expired", async () => {
    const { tokens, clock } = subject();
    const issuedAt = clock.now();
    const [first, second] = await written(subject(), 2, creation({ at: issuedAt, ttlMs: HOUR }));
    if (!first || !second) throw new Error("two versions were written");
    clock.advance(2 * HOUR);
    const { submissionId, intakeId } = first.row.submission;
    const expiresAt = issuedAt + HOUR;
    const shared = { submissionId, tenant: TENANT, intakeId, epoch: 0, expiresAt };
    const rotatedAt = issuedAt + 1;
    expect(await tokens.find(hashOf(first))).toEqual({
      ...shared,
      hash: hashOf(first),
      version: 1,
      issuedAt,
      rotatedAt,
    });
    expect(await tokens.find(hashOf(second))).toEqual({
      ...shared,
      hash: hashOf(second),
      version: 2,
      issuedAt: rotatedAt,
    });
    expect(await tokens.find("0".repeat(64))).toBeUndefined();
  });

  it("queries newest first, in pages", async () => {
    const { tokens, clock } = subject();
    const changes = await written(subject(), 5, creation({ at: clock.now() }));
    const newest = changes.map(hashOf).reverse();
    const page = async (limit: number, offset?: number) => {
      const found = await tokens.query({}, offset === undefined ? { limit } : { limit, offset });
      return found.map(({ hash }) => hash);
    };
    expect(await page(10)).toEqual(newest);
    expect(await page(2)).toEqual(newest.slice(0, 2));
    expect(await page(2, 3)).toEqual(newest.slice(3));
  });

  it("filters by tenant, intake, submission, status and expiry, and counts the same", async () => {
    const { tokens, clock } = subject();
    const at = clock.now();
    const own = await written(subject(), 3, creation({ at, expiresAt: at + HOUR }));
    const submissionId = own[0]?.row.submission.submissionId ?? "";
    await written(subject(), 2, creation({ at: clock.now(), intakeId: "other", expiresAt: at + 2 * HOUR }));
    await written(subject(), 1, creation({ at: clock.now(), tenant: "other", expiresAt: at + 3 * HOUR }));
    const cases = [
      { criteria: {}, expected: 6 },
      { criteria: { tenant: TENANT }, expected: 5 },
      { criteria: { tenant: "other" }, expected: 1 },
      { criteria: { submissionId }, expected: 3 },
      { criteria: { submissionId, tenant: "other" }, expected: 0 },
      { criteria: { submissionId: "sub_nobody" }, expected: 0 },
      { criteria: { intakeId: "other" }, expected: 2 },
      { criteria: { status: "current" }, expected: 3 },
      { criteria: { status: "stale" }, expected: 3 },
      { criteria: { status: "stale", submissionId }, expected: 2 },
      { criteria: { expiresBefore: at + HOUR }, expected: 0 },
      { criteria: { expiresBefore: at + HOUR + 1 }, expected: 3 },
      { criteria: { expiresAfter: at + HOUR }, expected: 3 },
      { criteria: { expiresAfter: at + HOUR, expiresBefore: at + 3 * HOUR }, expected: 2 },
    ] as const;
    for (const { criteria, expected } of cases) {
      expect(await tokens.query(criteria, { limit: 100 }), JSON.stringify(criteria)).toHaveLength(expected);
      expect(await tokens.count(criteria), JSON.stringify(criteria)).toBe(expected);
    }
  });
}

function forgetting(subject: () => Subject): void {
  it("forgets expired tokens in batches, and never a current one", async () => {
    const { tokens, clock } = subject();
    const at = clock.now();
    const changes = await written(subject(), 6, creation({ at, expiresAt: at + HOUR }));
    expect(await tokens.forgetExpired(at + HOUR, 10)).toBe(0);
    expect(await tokens.forgetExpired(at + HOUR + 1, 2)).toBe(2);
    expect(await tokens.forgetExpired(at + HOUR + 1, 2)).toBe(2);
    expect(await tokens.forgetExpired(at + HOUR + 1, 2)).toBe(1);
    expect(await tokens.forgetExpired(at + HOUR + 1, 2)).toBe(0);
    const current = changes.at(-1);
    expect(await tokens.query({}, { limit: 10 })).toMatchObject([{ hash: current?.token?.hash }]);
  });

  it("a submission whose old tokens were removed can still be written", async () => {
    const { tokens, store, clock } = subject();
    const at = clock.now();
    const changes = await written(subject(), 3, creation({ at, expiresAt: at + HOUR }));
    await tokens.forgetExpired(at + HOUR + 1, 10);
    const last = changes.at(-1);
    if (!last) throw new Error("three versions were written");
    expect(await store.commit(update(last, clock.now()))).toMatchObject({ kind: "committed" });
    expect(await tokens.find(hashOf(last))).toMatchObject({ version: 3, rotatedAt: clock.now() });
  });
}
