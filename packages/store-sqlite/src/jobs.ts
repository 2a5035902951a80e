import type { Change, Claim, Instant, Job, Jobs } from "@formbridge/core";
import { columnsOf, jobOf, jobs, jobsToWrite } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import { pick, prepare, prepareInsert, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

// Skips from lane to lane in the index, however many jobs wait in each.
const LANES = `WITH RECURSIVE lanes (lane) AS (
    SELECT min(lane) FROM jobs
    UNION ALL
    SELECT (SELECT min(lane) FROM jobs WHERE lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL)
  SELECT lane FROM lanes WHERE lane IS NOT NULL`;
const DUE = sql`SELECT ${pick(jobs, "j")} FROM ${jobs} AS j
  WHERE j.lane = ? AND j.run_at <= ? AND j.leased_until <= ? ORDER BY j.run_at LIMIT ?`;
const ONE = "tenant = @tenant AND key = @key";
const STILL_CLAIMED = `${ONE} AND run_at = @runAt AND attempt = @attempt AND leased_until = @leasedUntil`;

/** Writes the jobs of a change; only inside its transaction. */
export function createJobWriter(db: Database) {
  const put = prepareInsert(db, jobs, { columns: columnsOf(jobs), verb: "INSERT OR REPLACE" });
  const drop = db.prepare("DELETE FROM jobs WHERE tenant = ? AND key = ?");
  return {
    put(change: Change): void {
      for (const job of jobsToWrite(change)) put(job);
    },
    drop: (tenant: string, key: string): void => void drop.run(tenant, key),
  };
}

export function createJobs(db: Database, now: () => Instant, writer: Writer): Jobs {
  const lanes = db.prepare<[], string>(LANES).pluck();
  const due = prepare(db, DUE);
  const lease = db.prepare(`UPDATE jobs SET leased_until = @leasedUntil, attempt = @attempt WHERE ${ONE}`);
  const end = db.prepare(`DELETE FROM jobs WHERE ${STILL_CLAIMED}`);
  const postpone = db.prepare(`UPDATE jobs SET run_at = @retryAt, leased_until = 0 WHERE ${STILL_CLAIMED}`);
  const count = db.prepare<[], number>("SELECT count(*) FROM jobs").pluck();

  function dueJobs(at: Instant, { limit, perLane, busy }: Claim): Job[] {
    const found = lanes.all().flatMap((lane) => {
      const room = Math.min(limit, perLane - (busy.get(lane) ?? 0));
      return room > 0 ? due.all(lane, at, at, room).map(jobOf) : [];
    });
    return found.sort((one, other) => one.runAt - other.runAt).slice(0, limit);
  }

  return {
    // Checking is cheap; only a worker that finds work takes the write lock and waits for the disk.
    async claim(wanted) {
      const [first] = await answer(() => dueJobs(now(), { ...wanted, limit: 1 }));
      if (first === undefined) return [];
      return writer.write((at) => {
        const leasedUntil = at + wanted.leaseMs;
        const claimed = dueJobs(at, wanted).map((job) => ({ ...job, attempt: job.attempt + 1, leasedUntil }));
        for (const job of claimed) lease.run(job);
        return claimed;
      });
    },
    settle: (job, outcome) =>
      writer.write(() => (outcome === "done" ? end.run(job) : postpone.run({ ...job, ...outcome })).changes === 1),
    count: () => answer(() => count.get() ?? 0),
  };
}
