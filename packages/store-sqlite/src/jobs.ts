import { type Claim, type Instant, type Job, type Jobs, laneOf, type NewJob, type Submission } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

/** Adds and ends jobs for a commit; only inside its transaction. */
export function createJobWriter(db: Database) {
  const put = db.prepare(
    "INSERT OR REPLACE INTO jobs (tenant, key, kind, lane, submission_id, run_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.prepare("DELETE FROM jobs WHERE tenant = ? AND key = ?");
  return {
    put({ tenant, submissionId, intakeId }: Submission, job: NewJob): void {
      put.run(tenant, job.key, job.kind, laneOf(job.kind, intakeId), submissionId, job.runAt);
    },
    drop(tenant: string, key: string): void {
      drop.run(tenant, key);
    },
  };
}

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

export function createJobs(db: Database, now: () => Instant): Jobs {
  const lanes = db.prepare<[], string>(LANES).pluck();
  const due = db.prepare<[string, number, number, number], Job>(DUE);
  const lease = db.prepare(`UPDATE jobs SET leased_until = @leasedUntil, attempt = @attempt WHERE ${ONE}`);
  const end = db.prepare(`DELETE FROM jobs WHERE ${STILL_OURS}`);
  const postpone = db.prepare(`UPDATE jobs SET run_at = @retryAt, leased_until = 0 WHERE ${STILL_OURS}`);
  const count = db.prepare<[], number>("SELECT count(*) FROM jobs").pluck();

  function look({ limit, perLane, busy }: Claim): Job[] {
    const at = now();
    const found = lanes.all().flatMap((lane) => {
      const room = Math.min(limit, perLane - (busy.get(lane) ?? 0));
      return room > 0 ? due.all(lane, at, at, room) : [];
    });
    return found.sort((one, other) => one.runAt - other.runAt).slice(0, limit);
  }
  const claim = db.transaction((wanted: Claim): Job[] => {
    const leasedUntil = now() + wanted.leaseMs;
    const jobs = look(wanted).map((job) => ({ ...job, attempt: job.attempt + 1, leasedUntil }));
    for (const job of jobs) lease.run(job);
    return jobs;
  });
  return {
    // Looking costs nothing; only a worker that finds work takes the write lock and waits for the disk.
    claim: (wanted) => answer(() => (look({ ...wanted, limit: 1 }).length === 0 ? [] : claim.immediate(wanted))),
    settle: (job, outcome) =>
      answer(() => {
        const { changes } = outcome === "done" ? end.run(job) : postpone.run({ ...job, ...outcome });
        return changes === 1;
      }),
    count: () => answer(() => count.get() ?? 0),
  };
}
