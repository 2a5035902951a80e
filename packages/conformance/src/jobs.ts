import { type Claim, laneOf, type NewJob } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, quietUpdate, TENANT } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const deliver = (key: string, runAt: number): NewJob => ({ key, kind: "deliver", runAt });
const claim = (limit: number, leaseMs: number, rest: Partial<Claim> = {}): Claim => ({
  limit,
  leaseMs,
  perLane: 1_000,
  busy: new Map(),
  ...rest,
});
const keysOf = (jobs: { key: string }[]) => jobs.map(({ key }) => key);

export function describeJobs(open: OpenBackend): void {
  describe("jobs", () => {
    const subject = useBackend(open);
    describe("claiming", () => claiming(subject));
    describe("lanes", () => lanes(subject));
    describe("changing", () => changing(subject));
    describe("settling", () => settling(subject));
  });
}

function claiming(subject: () => Subject): void {
  it("returns only due jobs, earliest first, up to the limit", async () => {
    const { store, jobs, clock } = subject();
    const at = clock.now();
    const wanted = [deliver("c", at + 3), deliver("a", at + 1), deliver("b", at + 2), deliver("later", at + 4)];
    await store.commit(creation({ at }, { jobs: wanted }));
    expect(await jobs.claim(claim(10, 1_000))).toEqual([]);
    clock.advance(3);
    expect(keysOf(await jobs.claim(claim(2, 1_000)))).toEqual(["a", "b"]);
    expect(keysOf(await jobs.claim(claim(2, 1_000)))).toEqual(["c"]);
    expect(await jobs.claim(claim(2, 1_000))).toEqual([]);
    expect(await jobs.count()).toBe(4);
  });

  it("returns the job as enqueued", async () => {
    const { store, jobs, clock } = subject();
    const job: NewJob = { key: "gate", kind: "escalate", runAt: clock.now() };
    const change = creation({ at: clock.now() }, { jobs: [job] });
    await store.commit(change);
    const { submissionId, intakeId } = change.row.submission;
    const lane = laneOf("escalate", intakeId);
    const leasedUntil = clock.now() + 1_000;
    expect(await jobs.claim(claim(1, 1_000))).toEqual([
      { ...job, tenant: TENANT, submissionId, lane, attempt: 1, leasedUntil },
    ]);
  });

  it("returns a job again once its lease is over, and counts the attempts", async () => {
    const { store, jobs, clock } = subject();
    await store.commit(creation({ at: clock.now() }, { jobs: [deliver("a", clock.now())] }));
    expect(await jobs.claim(claim(1, 100))).toMatchObject([{ key: "a", attempt: 1 }]);
    clock.advance(99);
    expect(await jobs.claim(claim(1, 100))).toEqual([]);
    clock.advance(1);
    expect(await jobs.claim(claim(1, 100))).toMatchObject([{ key: "a", attempt: 2 }]);
  });

  it("gives every job to one of many workers", async () => {
    const { store, jobs, clock } = subject();
    const wanted = Array.from({ length: 20 }, (_, index) => deliver(`job-${index}`, clock.now()));
    await store.commit(creation({ at: clock.now() }, { jobs: wanted }));
    const claims = await Promise.all(Array.from({ length: 10 }, () => jobs.claim(claim(3, 1_000))));
    const keys = keysOf(claims.flat());
    expect(keys).toHaveLength(20);
    expect(new Set(keys).size).toBe(20);
  });
}

function changing(subject: () => Subject): void {
  it("a job with the same key replaces the earlier one, lease and attempts too", async () => {
    const { store, jobs, clock } = subject();
    const first = creation({ at: clock.now() }, { jobs: [deliver("a", clock.now())] });
    await store.commit(first);
    await jobs.claim(claim(1, 1_000_000));
    await store.commit(quietUpdate(first, clock.now(), { jobs: [deliver("a", clock.now() + 5)] }));
    expect(await jobs.count()).toBe(1);
    expect(await jobs.claim(claim(1, 1_000))).toEqual([]);
    clock.advance(5);
    expect(await jobs.claim(claim(1, 1_000))).toMatchObject([{ key: "a", attempt: 1, runAt: clock.now() }]);
  });

  it("a dropped job is gone, claimed or not, and a change may drop and add the same key", async () => {
    const { store, jobs, clock } = subject();
    const first = creation({ at: clock.now() }, { jobs: ["a", "b", "c"].map((key) => deliver(key, clock.now())) });
    await store.commit(first);
    await jobs.claim(claim(1, 10));
    const dropJobs = ["a", "b", "c", "unknown"];
    await store.commit(quietUpdate(first, clock.now(), { dropJobs, jobs: [deliver("c", clock.now())] }));
    clock.advance(10);
    expect(keysOf(await jobs.claim(claim(10, 10)))).toEqual(["c"]);
    expect(await jobs.count()).toBe(1);
  });

  it("keys of different tenants are independent", async () => {
    const { store, jobs, clock } = subject();
    await store.commit(creation({ at: clock.now() }, { jobs: [deliver("a", clock.now())] }));
    await store.commit(creation({ at: clock.now(), tenant: "other" }, { jobs: [deliver("a", clock.now())] }));
    expect(await jobs.count()).toBe(2);
    await store.commit(creation({ at: clock.now(), tenant: "other" }, { dropJobs: ["a"] }));
    expect(await jobs.claim(claim(10, 1_000))).toMatchObject([{ tenant: TENANT, key: "a" }]);
  });
}

function lanes(subject: () => Subject): void {
  it("a full lane is skipped, and a lane gives no more than it has room for", async () => {
    const { store, jobs, clock } = subject();
    const at = clock.now();
    const crowd = Array.from({ length: 50 }, (_, index) => deliver(`slow-${index}`, at - 100));
    await store.commit(creation({ at }, { jobs: crowd }));
    const others: NewJob[] = ["b", "a"].map((key, index) => ({ key, kind: "escalate", runAt: at - index }));
    const change = creation({ at }, { jobs: others });
    await store.commit(change);
    const { intakeId } = change.row.submission;
    const slow = laneOf("deliver", intakeId);
    const full = claim(10, 1_000, { perLane: 2, busy: new Map([[slow, 2]]) });
    expect(keysOf(await jobs.claim(full))).toEqual(["a", "b"]);
    const last = claim(10, 1_000, { perLane: 2, busy: new Map([[slow, 1]]) });
    expect(keysOf(await jobs.claim(last))).toHaveLength(1);
    const fresh = await jobs.claim(claim(10, 1_000, { perLane: 3 }));
    expect(fresh.map(({ lane }) => lane)).toEqual([slow, slow, slow]);
  });

  it("with more lanes than the limit, the longest waiting come first", async () => {
    const { store, jobs, clock } = subject();
    const at = clock.now();
    await store.commit(creation({ at }, { jobs: [deliver("late", at - 1), deliver("later", at)] }));
    await store.commit(creation({ at }, { jobs: [{ key: "early", kind: "escalate", runAt: at - 2 }] }));
    expect(keysOf(await jobs.claim(claim(2, 1_000)))).toEqual(["early", "late"]);
  });
}

function settling(subject: () => Subject): void {
  async function claimed() {
    const { store, jobs, clock } = subject();
    const change = creation({ at: clock.now() }, { jobs: [deliver("a", clock.now())] });
    await store.commit(change);
    const [job] = await jobs.claim(claim(1, 100));
    if (job === undefined) throw new Error("nothing was claimed");
    return { change, job };
  }

  it("ends a job, once", async () => {
    const { jobs } = subject();
    const { job } = await claimed();
    expect(await jobs.settle(job, "done")).toBe(true);
    expect(await jobs.settle(job, "done")).toBe(false);
    expect(await jobs.count()).toBe(0);
  });

  it("postpones a job, and keeps counting its attempts", async () => {
    const { jobs, clock } = subject();
    const { job } = await claimed();
    expect(await jobs.settle(job, { retryAt: clock.now() + 50 })).toBe(true);
    expect(await jobs.claim(claim(1, 100))).toEqual([]);
    clock.advance(50);
    expect(await jobs.claim(claim(1, 100))).toMatchObject([{ key: "a", attempt: 2, runAt: clock.now() }]);
  });

  it("has no effect on a job that another worker has claimed since", async () => {
    const { jobs, clock } = subject();
    const { job } = await claimed();
    clock.advance(100);
    const [again] = await jobs.claim(claim(1, 100));
    expect(await jobs.settle(job, "done")).toBe(false);
    expect(await jobs.settle(job, { retryAt: clock.now() })).toBe(false);
    expect(again && (await jobs.settle(again, "done"))).toBe(true);
  });

  it("has no effect on a job that replaced it", async () => {
    const { store, jobs, clock } = subject();
    const { change, job } = await claimed();
    await store.commit(quietUpdate(change, clock.now(), { jobs: [deliver("a", clock.now() + 1)] }));
    expect(await jobs.settle(job, "done")).toBe(false);
    expect(await jobs.count()).toBe(1);
  });
}
