import type { Claim, Instant, Job } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { JobColumns } from "./flat-change.ts";

// From one lane to the next by the index, however many jobs wait in each.
const LANES = `WITH RECURSIVE lanes (lane) AS (
    SELECT min(lane) FROM jobs
    UNION ALL
    SELECT (SELECT min(lane) FROM jobs WHERE lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL)
  SELECT lane FROM lanes WHERE lane IS NOT NULL`;
const DUE = `SELECT tenant, submission_id AS submissionId, key, kind, lane, run_at AS runAt, attempt, leased_until AS leasedUntil
  FROM jobs WHERE lane = ? AND run_at <= ? AND leased_until <= ? ORDER BY run_at LIMIT ?`;
const ONE = "tenant = @tenant AND key = @key";
const STILL_OURS = `${ONE} AND run_at = @runAt AND attempt = @attempt AND leased_until = @leasedUntil`;

/** The jobs that a claim at this moment would get. */
export function createDueJobs(db: Database): (at: Instant, claim: Claim) => Job[] {
  const lanes = db.prepare<[], string>(LANES).pluck();
  const due = db.prepare<[string, number, number, number], Job>(DUE);
  return (at, { limit, perLane, busy }) => {
    const found = lanes.all().flatMap((lane) => {
      const room = Math.min(limit, perLane - (busy.get(lane) ?? 0));
      return room > 0 ? due.all(lane, at, at, room) : [];
    });
    return found.sort((one, other) => one.runAt - other.runAt).slice(0, limit);
  };
}

/** A job as its claimer holds it. */
export type HeldJob = Pick<Job, "tenant" | "key" | "runAt" | "attempt" | "leasedUntil">;

export function createJobWriter(db: Database) {
  const dueJobs = createDueJobs(db);
  const put = db.prepare(
    "INSERT OR REPLACE INTO jobs (tenant, submission_id, key, kind, lane, run_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.prepare("DELETE FROM jobs WHERE tenant = ? AND key = ?");
  const lease = db.prepare(`UPDATE jobs SET leased_until = @leasedUntil, attempt = @attempt WHERE ${ONE}`);
  const end = db.prepare(`DELETE FROM jobs WHERE ${STILL_OURS}`);
  const postpone = db.prepare(`UPDATE jobs SET run_at = @retryAt, leased_until = 0 WHERE ${STILL_OURS}`);
  return {
    put({ tenant, submissionId }: { tenant: string; submissionId: string }, job: JobColumns): void {
      put.run(tenant, submissionId, ...job);
    },
    drop(tenant: string, key: string): void {
      drop.run(tenant, key);
    },
    claim(at: Instant, wanted: Claim): Job[] {
      const leasedUntil = at + wanted.leaseMs;
      const jobs = dueJobs(at, wanted).map((job) => ({ ...job, attempt: job.attempt + 1, leasedUntil }));
      for (const job of jobs) lease.run(job);
      return jobs;
    },
    settle(job: HeldJob, outcome: "done" | { retryAt: Instant }): boolean {
      const { changes } = outcome === "done" ? end.run(job) : postpone.run({ ...job, ...outcome });
      return changes === 1;
    },
  };
}
