import { StoreDown } from "@formbridge/core";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { createBreaker } from "./breaker/breaker.ts";
import { logFailedTasks } from "./work.ts";

describe("the log of background tasks", () => {
  it("has an error for each failure, but not for polls of a store that is known to be down", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "info", base: null, timestamp: false }, { write: (line) => void lines.push(line) });
    const log = logFailedTasks(logger);
    const probe = async () => ({ healthy: false, latencyMs: 1, detail: "no route" });
    const breaker = createBreaker({ probe, failures: 2 });
    const poll = () =>
      breaker
        .guard("read", () => Promise.reject(new StoreDown("no route", "not_applied")))
        .catch((e) => log("jobs", e));
    for (let times = 0; times < 10; times += 1) await poll();
    breaker.stop();
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: 50, task: "jobs", err: { message: "no route" } });
  });
});
