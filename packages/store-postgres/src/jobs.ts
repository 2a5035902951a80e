import type { Jobs } from "@formbridge/core";
import { computed, jobOf, jobs } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { pick, sql, statement } from "./sql.ts";

// Skips from lane to lane in the index, however many jobs wait in each. A job that another worker is claiming is skipped.
const CLAIM = statement(
  "claim_jobs",
  sql`WITH RECURSIVE clock AS MATERIALIZED (SELECT formbridge.now_ms() AS now),
    lanes (lane) AS (
      SELECT (SELECT min(lane) FROM ${jobs})
      UNION ALL
      SELECT (SELECT min(j.lane) FROM ${jobs} AS j WHERE j.lane > lanes.lane) FROM lanes WHERE lanes.lane IS NOT NULL),
    room AS MATERIALIZED (
      SELECT lanes.lane, $3::bigint - coalesce(busy.running, 0) AS free
        FROM lanes LEFT JOIN unnest($4::text[], $5::bigint[]) AS busy (lane, running) ON busy.lane = lanes.lane
       WHERE lanes.lane IS NOT NULL),
    due AS MATERIALIZED (
      SELECT found.tenant, found.key FROM room CROSS JOIN LATERAL (
        SELECT j.tenant, j.key, j.run_at FROM ${jobs} AS j
         WHERE j.lane = room.lane AND j.run_at <= (SELECT now FROM clock) AND j.leased_until <= (SELECT now FROM clock)
         ORDER BY j.run_at LIMIT greatest(least(room.free, $1::bigint), 0) FOR UPDATE SKIP LOCKED) AS found
       ORDER BY found.run_at LIMIT $1)
    UPDATE ${jobs} AS j SET leased_until = (SELECT now FROM clock) + $2, attempt = j.attempt + 1
      FROM due WHERE j.tenant = due.tenant AND j.key = due.key
    RETURNING ${pick(jobs, "j")}`,
);
const STILL_OURS = "tenant = $1 AND key = $2 AND run_at = $3 AND attempt = $4 AND leased_until = $5";
const END = statement("end_job", sql`DELETE FROM ${jobs} WHERE ${STILL_OURS} RETURNING key`);
const POSTPONE = statement(
  "postpone_job",
  sql`UPDATE ${jobs} SET run_at = $6, leased_until = 0 WHERE ${STILL_OURS} RETURNING key`,
);
const COUNT = statement("count_jobs", sql`SELECT ${computed<{ count: number }>("count(*) AS count")} FROM ${jobs}`);

export function createJobs(db: Database): Jobs {
  return {
    claim: async ({ limit, leaseMs, perLane, busy }) => {
      const rows = await db.write(CLAIM, [limit, leaseMs, perLane, [...busy.keys()], [...busy.values()]]);
      return rows.map(jobOf).sort((one, other) => one.runAt - other.runAt);
    },
    settle: async (job, outcome) => {
      const claim = [job.tenant, job.key, job.runAt, job.attempt, job.leasedUntil];
      const ended = await (outcome === "done" ? db.write(END, claim) : db.write(POSTPONE, [...claim, outcome.retryAt]));
      return ended.length === 1;
    },
    count: async () => (await db.read(COUNT, []))[0]?.count ?? 0,
  };
}
