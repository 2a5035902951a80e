import type { Migration } from "./migration.ts";

/** Jobs stand in lanes, so that a long line for one destination keeps nobody else waiting. */
export const jobLanes: Migration = {
  id: 3,
  name: "job lanes",
  sql: `
    ALTER TABLE jobs RENAME TO jobs_without_lanes;
    DROP INDEX jobs_due;
    CREATE TABLE jobs (
      tenant         TEXT NOT NULL,
      key            TEXT NOT NULL,
      kind           TEXT NOT NULL,
      lane           TEXT NOT NULL,
      submission_id  TEXT NOT NULL,
      run_at         INTEGER NOT NULL,
      attempt        INTEGER NOT NULL DEFAULT 0,
      leased_until   INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX jobs_due ON jobs (lane, run_at);
    INSERT INTO jobs (tenant, key, kind, lane, submission_id, run_at, attempt, leased_until)
      SELECT j.tenant, j.key, j.kind, j.kind || ':' || s.intake_id, j.submission_id, j.run_at, j.attempt, j.leased_until
      FROM jobs_without_lanes AS j JOIN submissions AS s ON s.submission_id = j.submission_id;
    DROP TABLE jobs_without_lanes;
  `,
};
