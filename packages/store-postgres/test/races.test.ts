import { fixtures } from "@formbridge/conformance";
import { type Backend, type Change, type Committed, firstBrokenLink } from "@formbridge/core";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { optionsFor } from "./open.ts";

const { creation, update, keyWrite, newHash, TENANT, INTAKE, HOUR } = fixtures;
const ROUNDS = 20;
const CLAIM = { leaseMs: HOUR, perLane: 100, busy: new Map<string, number>() };

let database: TestDatabase;
let instances: Backend[];
beforeAll(async () => {
  database = await createMigratedDatabase();
  instances = await Promise.all([1, 2].map(() => openPostgresBackend(optionsFor(database.url))));
});
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.close()));
  await database.close();
});

/** Every other change comes from the other instance, and all are in flight before one returns. */
const together = (changes: Change[]): Promise<Committed[]> =>
  Promise.all(
    changes.map((change, index) => {
      const instance = instances[index % instances.length];
      if (instance === undefined) throw new Error("there are instances");
      return instance.store.commit(change);
    }),
  );
const countOf = (answers: Committed[], kind: Committed["kind"]): number =>
  answers.filter((answer) => answer.kind === kind).length;

test("of 64 creates with one key, over two instances, one commits and the others get its record", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = Date.now();
    const key = keyWrite({ expiresAt: at + HOUR });
    const rivals = Array.from({ length: 64 }, () => creation({ at }, { key }));
    const answers = await together(rivals);
    expect([countOf(answers, "committed"), countOf(answers, "key_taken")]).toEqual([1, 63]);
    const winner = rivals[answers.findIndex(({ kind }) => kind === "committed")];
    const told = answers.flatMap((answer) => (answer.kind === "key_taken" ? [answer.record.submissionId] : []));
    expect(new Set(told)).toEqual(new Set([winner?.row.submission.submissionId]));
  }
  expect(await instances[0]?.submissions.list({ tenant: TENANT }, { limit: 1000 })).toHaveLength(ROUNDS);
});

/** A different statement than without a job. */
const laterJob = () => ({ key: `later-${newHash()}`, kind: "deliver" as const, runAt: Date.now() + HOUR });

test.each([
  ["that have no more than events", () => ({})],
  ["that have a job each", () => ({ jobs: [laterJob()] })],
])("of 50 writes %s, on one revision, over two instances, one commits and the others see it", async (_, more) => {
  let last = creation({ at: Date.now() });
  await together([last]);
  for (let round = 0; round < ROUNDS; round += 1) {
    const rivals = Array.from({ length: 50 }, () => update(last, Date.now(), more()));
    const answers = await together(rivals);
    expect([countOf(answers, "committed"), countOf(answers, "stale")]).toEqual([1, 49]);
    last = rivals[answers.findIndex(({ kind }) => kind === "committed")] ?? last;
    for (const answer of answers) {
      if (answer.kind === "stale") expect(answer.loaded.submission?.submission).toEqual(last.row.submission);
    }
  }
  const where = { tenant: TENANT, submissionId: last.row.submission.submissionId };
  const streams = ["submission", "token", "idempotency"] as const;
  const events = (await instances[1]?.events.read({ ...where, streams }, 1000)) ?? [];
  expect(events).toHaveLength(2 * (ROUNDS + 1));
  expect(firstBrokenLink(events)).toBeUndefined();
});

test("of 20 submits with one key on one revision, one leaves its record and its job", async () => {
  const at = Date.now();
  const first = creation({ at });
  await together([first]);
  const key = keyWrite({ ref: { operation: "submit", hash: newHash() }, expiresAt: at + HOUR });
  const jobs = [{ key: `deliver-${first.row.submission.submissionId}`, kind: "deliver" as const, runAt: at }];
  const answers = await together(Array.from({ length: 20 }, () => update(first, at, { key, jobs })));
  expect([countOf(answers, "committed"), countOf(answers, "key_taken")]).toEqual([1, 19]);
  expect(await instances[0]?.jobs.claim({ ...CLAIM, limit: 10 })).toMatchObject([{ key: jobs[0]?.key, attempt: 1 }]);
  const scope = { ...key.ref, tenant: TENANT, intakeId: INTAKE };
  expect((await instances[1]?.idempotency.find(scope))?.fingerprint).toBe(key.fingerprint);
});

test("every job goes to one of two instances", async () => {
  const at = Date.now() - 1;
  const jobs = Array.from({ length: 100 }, (_, index) => ({
    key: `job-${index}`,
    kind: "deliver" as const,
    runAt: at,
  }));
  await together([creation({ at }, { jobs })]);
  const claims = await Promise.all(
    Array.from({ length: 40 }, (_, index) => instances[index % 2]?.jobs.claim({ ...CLAIM, limit: 3 }) ?? []),
  );
  const keys = claims.flat().map((job) => job.key);
  expect([keys.length, new Set(keys).size]).toEqual([100, 100]);
});
