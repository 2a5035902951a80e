import type { NewJob } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { creation, quietUpdate, TENANT } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const deliver = (key: string, runAt: number): NewJob => ({ key, kind: "deliver", runAt });
const keysOf = (jobs: { key: string }[]) => jobs.map(({ key }) => key);

export function describeJobs(open: OpenBackend): void {
  describe("jobs", () => {
    const subject = useBackend(open);
    describe("claiming", () => claiming(subject));
    describe("changing", () => changing(subject));
  });
}

function claiming(subject: () => Subject): void {
  it("gives due jobs only, earliest first, as many as asked", async () => {
    const { store, jobs, clock } = subject();
    const at = clock.now();
    const wanted = [deliver("c", at + 3), deliver("a", at + 1), deliver("b", at + 2), deliver("later", at + 4)];
    await store.commit(creation({ at }, { jobs: wanted }));
    expect(await jobs.claim(10, 1_000)).toEqual([]);
    clock.advance(3);
    expect(keysOf(await jobs.claim(2, 1_000))).toEqual(["a", "b"]);
    expect(keysOf(await jobs.claim(2, 1_000))).toEqual(["c"]);
    expect(await jobs.claim(2, 1_000)).toEqual([]);
    expect(await jobs.count()).toBe(4);
  });

  it("tells what the job is", async () => {
    const { store, jobs, clock } = subject();
    const job: NewJob = { key: "gate", kind: "escalate", runAt: clock.now() };
    const change = creation({ at: clock.now() }, { jobs: [job] });
    await store.commit(change);
    const { submissionId } = change.row.submission;
    expect(await jobs.claim(1, 1_000)).toEqual([{ ...job, tenant: TENANT, submissionId, attempt: 1 }]);
  });

  it("gives a job again once its lease is over, and counts the attempts", async () => {
    const { store, jobs, clock } = subject();
    await store.commit(creation({ at: clock.now() }, { jobs: [deliver("a", clock.now())] }));
    expect(await jobs.claim(1, 100)).toMatchObject([{ key: "a", attempt: 1 }]);
    clock.advance(99);
    expect(await jobs.claim(1, 100)).toEqual([]);
    clock.advance(1);
    expect(await jobs.claim(1, 100)).toMatchObject([{ key: "a", attempt: 2 }]);
  });

  it("gives every job to one of many claimers", async () => {
    const { store, jobs, clock } = subject();
    const wanted = Array.from({ length: 20 }, (_, index) => deliver(`job-${index}`, clock.now()));
    await store.commit(creation({ at: clock.now() }, { jobs: wanted }));
    const claims = await Promise.all(Array.from({ length: 10 }, () => jobs.claim(3, 1_000)));
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
    await jobs.claim(1, 1_000_000);
    await store.commit(quietUpdate(first, clock.now(), { jobs: [deliver("a", clock.now() + 5)] }));
    expect(await jobs.count()).toBe(1);
    expect(await jobs.claim(1, 1_000)).toEqual([]);
    clock.advance(5);
    expect(await jobs.claim(1, 1_000)).toMatchObject([{ key: "a", attempt: 1, runAt: clock.now() }]);
  });

  it("a dropped job is gone, claimed or not, and a change may drop and add the same key", async () => {
    const { store, jobs, clock } = subject();
    const first = creation({ at: clock.now() }, { jobs: ["a", "b", "c"].map((key) => deliver(key, clock.now())) });
    await store.commit(first);
    await jobs.claim(1, 10);
    const dropJobs = ["a", "b", "c", "unknown"];
    await store.commit(quietUpdate(first, clock.now(), { dropJobs, jobs: [deliver("c", clock.now())] }));
    clock.advance(10);
    expect(keysOf(await jobs.claim(10, 10))).toEqual(["c"]);
    expect(await jobs.count()).toBe(1);
  });

  it("keys of different tenants don't meet", async () => {
    const { store, jobs, clock } = subject();
    await store.commit(creation({ at: clock.now() }, { jobs: [deliver("a", clock.now())] }));
    await store.commit(creation({ at: clock.now(), tenant: "other" }, { jobs: [deliver("a", clock.now())] }));
    expect(await jobs.count()).toBe(2);
    await store.commit(creation({ at: clock.now(), tenant: "other" }, { dropJobs: ["a"] }));
    expect(await jobs.claim(10, 1_000)).toMatchObject([{ tenant: TENANT, key: "a" }]);
  });
}
