import type { Instant, Job, Jobs, NewJob } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

/** Adds and ends jobs for a commit; only inside its transaction. */
export function createJobWriter(db: Database) {
  const put = db.prepare(
    "INSERT OR REPLACE INTO jobs (tenant, key, kind, submission_id, run_at) VALUES (?, ?, ?, ?, ?)",
  );
  const drop = db.prepare("DELETE FROM jobs WHERE tenant = ? AND key = ?");
  return {
    put(tenant: string, submissionId: string, job: NewJob): void {
      put.run(tenant, job.key, job.kind, submissionId, job.runAt);
    },
    drop(tenant: string, key: string): void {
      drop.run(tenant, key);
    },
  };
}

export function createJobs(db: Database, now: () => Instant): Jobs {
  const due = db.prepare<[number, number, number], Job>(
    `SELECT tenant, submission_id AS submissionId, key, kind, run_at AS runAt, attempt + 1 AS attempt
     FROM jobs WHERE run_at <= ? AND leased_until <= ? ORDER BY run_at LIMIT ?`,
  );
  const lease = db.prepare("UPDATE jobs SET leased_until = ?, attempt = ? WHERE tenant = ? AND key = ?");
  const count = db.prepare<[], number>("SELECT count(*) FROM jobs").pluck();
  const claim = db.transaction((limit: number, leaseMs: number): Job[] => {
    const at = now();
    const jobs = due.all(at, at, limit);
    for (const job of jobs) lease.run(at + leaseMs, job.attempt, job.tenant, job.key);
    return jobs;
  });
  return {
    // Looking costs nothing; only a worker that finds work takes the write lock and waits for the disk.
    claim: (limit, leaseMs) =>
      answer(() => (due.get(now(), now(), limit) === undefined ? [] : claim.immediate(limit, leaseMs))),
    count: () => answer(() => count.get() ?? 0),
  };
}
