import type { Job, Jobs } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";

// Whoever finds a job that another worker is just claiming passes it over instead of waiting.
const CLAIM: Statement = {
  name: "claim_jobs",
  text: `WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS now),
    due AS MATERIALIZED (
      SELECT j.tenant, j.key FROM formbridge.jobs AS j
      WHERE j.run_at <= (SELECT now FROM clock) AND j.leased_until <= (SELECT now FROM clock)
      ORDER BY j.run_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    UPDATE formbridge.jobs AS j SET leased_until = (SELECT now FROM clock) + $2, attempt = j.attempt + 1
    FROM due WHERE j.tenant = due.tenant AND j.key = due.key
    RETURNING j.tenant, j.submission_id AS "submissionId", j.key, j.kind, j.run_at AS "runAt", j.attempt`,
};
const COUNT: Statement = { name: "count_jobs", text: "SELECT count(*) AS count FROM formbridge.jobs" };

export function createJobs(db: Database): Jobs {
  return {
    claim: async (limit, leaseMs) => {
      const jobs = await db.write<Job>(CLAIM, [limit, leaseMs]);
      return jobs.sort((one, other) => one.runAt - other.runAt);
    },
    count: async () => (await db.read<{ count: number }>(COUNT, []))[0]?.count ?? 0,
  };
}
