import { type Backend, MAX_COUNTED_JOBS } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

export function createSizes(db: Database): Pick<Backend, "sizes" | "isShared" | "jobsWaiting" | "connectionsInUse"> {
  const tokens = db.prepare<[], number>("SELECT count(*) FROM tokens").pluck();
  const records = db.prepare<[], { intake_id: string; count: number }>(
    "SELECT intake_id, count(*) AS count FROM records GROUP BY intake_id",
  );
  const jobs = db.prepare<[number], number>("SELECT count(*) FROM (SELECT 1 FROM jobs LIMIT ?)").pluck();
  return {
    sizes: () =>
      answer(() => ({
        tokens: tokens.get() ?? 0,
        records: Object.fromEntries(records.all().map(({ intake_id, count }) => [intake_id, count])),
      })),
    isShared: false,
    jobsWaiting: () => answer(() => jobs.get(MAX_COUNTED_JOBS) ?? 0),
    connectionsInUse: () => 1,
  };
}
