import type { Job, Jobs } from "@formbridge/core";
import { answer, nameOf, type Tables } from "./tables.ts";

export function createJobs(tables: Tables): Jobs {
  return {
    claim: ({ limit, leaseMs, perLane, busy }) =>
      answer(tables, () => {
        const now = tables.now();
        const running = new Map(busy);
        const claimed: Job[] = [];
        for (const job of [...tables.jobs.values()].sort((one, other) => one.runAt - other.runAt)) {
          const inLane = running.get(job.lane) ?? 0;
          if (job.runAt > now || job.leasedUntil > now || inLane >= perLane || claimed.length >= limit) continue;
          running.set(job.lane, inLane + 1);
          job.leasedUntil = now + leaseMs;
          job.attempt += 1;
          claimed.push({ ...job });
        }
        return claimed;
      }),
    settle: (job, outcome) =>
      answer(tables, () => {
        const name = nameOf(job.tenant, job.key);
        const found = tables.jobs.get(name);
        if (found === undefined || !isSameClaim(found, job)) return false;
        if (outcome === "done") tables.jobs.delete(name);
        else tables.jobs.set(name, { ...found, runAt: outcome.retryAt, leasedUntil: 0 });
        return true;
      }),
    count: () => answer(tables, () => tables.jobs.size),
  };
}

const isSameClaim = (found: Job, job: Job): boolean =>
  found.runAt === job.runAt && found.attempt === job.attempt && found.leasedUntil === job.leasedUntil;
