import type { Instant, Jobs } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";
import { createDueJobs } from "./writer/jobs.ts";

export function createJobs(db: Database, now: () => Instant, call: CallWriter): Jobs {
  const dueJobs = createDueJobs(db);
  const count = db.prepare<[], number>("SELECT count(*) FROM jobs").pluck();
  return {
    // Looking costs nothing; only a worker that finds work takes the write lock and waits for the disk.
    async claim(wanted) {
      const [first] = await answer(() => dueJobs(now(), { ...wanted, limit: 1 }));
      return first === undefined ? [] : call("claimJobs", wanted);
    },
    settle: ({ tenant, key, runAt, attempt, leasedUntil }, outcome) =>
      call("settleJob", { tenant, key, runAt, attempt, leasedUntil }, outcome),
    count: () => answer(() => count.get() ?? 0),
  };
}
