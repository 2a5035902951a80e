import type { Job, Jobs } from "@formbridge/core";
import { plainArray } from "./arrays.ts";
import type { Database, Statement } from "./database.ts";

const COLUMNS = `j.tenant, j.submission_id AS "submissionId", j.key, j.kind, j.lane, j.run_at AS "runAt", j.attempt,
      j.leased_until AS "leasedUntil"`;

// From one lane to the next by the index, however many jobs wait in each. Whoever finds a job that another worker is just
// claiming passes it over instead of waiting.
const CLAIM: Statement = {
  name: "claim_jobs",
  text: `WITH RECURSIVE clock AS MATERIALIZED (SELECT formbridge.now_ms() AS now),
    lanes (lane) AS (
      SELECT (SELECT min(lane) FROM formbridge.jobs)
      UNION ALL
      SELECT (SELECT min(j.lane) FROM formbridge.jobs AS j WHERE j.lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL),
    room AS MATERIALIZED (
      SELECT lanes.lane, $3::bigint - coalesce(busy.running, 0) AS free
      FROM lanes LEFT JOIN unnest($4::text[], $5::bigint[]) AS busy (lane, running) ON busy.lane = lanes.lane
      WHERE lanes.lane IS NOT NULL),
    due AS MATERIALIZED (
      SELECT found.tenant, found.key FROM room CROSS JOIN LATERAL (
        SELECT j.tenant, j.key, j.run_at FROM formbridge.jobs AS j
        WHERE j.lane = room.lane AND j.run_at <= (SELECT now FROM clock) AND j.leased_until <= (SELECT now FROM clock)
        ORDER BY j.run_at LIMIT greatest(least(room.free, $1::bigint), 0) FOR UPDATE SKIP LOCKED) AS found
      ORDER BY found.run_at LIMIT $1)
    UPDATE formbridge.jobs AS j SET leased_until = (SELECT now FROM clock) + $2, attempt = j.attempt + 1
    FROM due WHERE j.tenant = due.tenant AND j.key = due.key
    RETURNING ${COLUMNS}`,
};
const STILL_OURS = "j.tenant = $1 AND j.key = $2 AND j.run_at = $3 AND j.attempt = $4 AND j.leased_until = $5";
const END: Statement = {
  name: "end_job",
  text: `DELETE FROM formbridge.jobs AS j WHERE ${STILL_OURS} RETURNING j.key`,
};
const POSTPONE: Statement = {
  name: "postpone_job",
  text: `UPDATE formbridge.jobs AS j SET run_at = $6, leased_until = 0 WHERE ${STILL_OURS} RETURNING j.key`,
};
const COUNT: Statement = { name: "count_jobs", text: "SELECT count(*) AS count FROM formbridge.jobs" };

export function createJobs(db: Database): Jobs {
  return {
    claim: async ({ limit, leaseMs, perLane, busy }) => {
      const values = [limit, leaseMs, perLane, [...busy.keys()], plainArray([...busy.values()])];
      const jobs = await db.write<Job>(CLAIM, values);
      return jobs.sort((one, other) => one.runAt - other.runAt);
    },
    settle: async (job, outcome) => {
      const claim = [job.tenant, job.key, job.runAt, job.attempt, job.leasedUntil];
      const ended = await (outcome === "done" ? db.write(END, claim) : db.write(POSTPONE, [...claim, outcome.retryAt]));
      return ended.length === 1;
    },
    count: async () => (await db.read<{ count: number }>(COUNT, []))[0]?.count ?? 0,
  };
}
