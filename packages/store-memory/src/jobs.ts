import type { Jobs } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export function createJobs(tables: Tables): Jobs {
  return {
    claim: (limit, leaseMs) =>
      answer(tables, () => {
        const now = tables.now();
        const due = [...tables.jobs.values()]
          .filter((job) => job.runAt <= now && job.leasedUntil <= now)
          .sort((a, b) => a.runAt - b.runAt)
          .slice(0, limit);
        return due.map((job) => {
          job.leasedUntil = now + leaseMs;
          job.attempt += 1;
          const { leasedUntil: _, ...claimed } = job;
          return claimed;
        });
      }),
    count: () => answer(tables, () => tables.jobs.size),
  };
}
