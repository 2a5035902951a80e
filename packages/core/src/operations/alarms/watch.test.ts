import type { AlarmPolicies } from "@formbridge/contract";
import { describe, expect, it } from "vitest";
import { type AlarmRules, DEFAULT_ALARMS, responsesProblem, ruleProblem } from "../../domain/alarms/alarm.ts";
import type { Observation } from "../../domain/alarms/signals.ts";
import type { Hash } from "../../domain/hashing.ts";
import type { Submission } from "../../domain/submission.ts";
import type { AlarmWindows, Mark } from "../../ports/alarm-windows.ts";
import type { Measure } from "../../ports/instrumentation.ts";
import type { Deps } from "../deps.ts";
import type { Catalog } from "../read/catalog.ts";
import { createWatch } from "./watch.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 5);

/** Exact windows without a bound: the simplest correct implementation. */
function exactWindows(): AlarmWindows {
  const seen = new Map<string, Map<string, number>>();
  return {
    add: async (marks) => {
      for (const { window, member, at } of marks) {
        const members = seen.get(window) ?? new Map<string, number>();
        seen.set(window, members.set(member, at));
      }
      const count = ({ window, at, windowMs, atMost }: Mark): number =>
        Math.min(atMost, [...(seen.get(window)?.values() ?? [])].filter((last) => last > at - windowMs).length);
      return marks.map(count);
    },
  };
}

const OWN_ALARMS: AlarmPolicies = { submission_conflicts: { threshold: 0 } };

function scene(alarmWindows: AlarmWindows = exactWindows(), alarms: AlarmRules | false = DEFAULT_ALARMS) {
  const measures: Measure[] = [];
  const deps = {
    settings: { alarms },
    random: { process: "p" },
    instrumentation: { record: (measure: Measure) => measures.push(measure) },
    alarmWindows,
  } as unknown as Deps;
  const catalog = {
    byDigest: async (digest: Hash) => ({ definition: digest === "own" ? { alarms: OWN_ALARMS } : {} }),
  } as unknown as Catalog;
  const watch = createWatch(deps, catalog);
  const dropped = (): number =>
    measures.reduce((sum, one) => sum + (one.name === "alarm_signals" && one.outcome === "dropped" ? one.count : 0), 0);
  return { watch, dropped };
}

const submissionOf = (name: string, over: Partial<Submission> = {}): Submission =>
  ({
    tenant: "default",
    submissionId: `sub_${name}`,
    intakeId: "forms",
    definition: "d",
    updatedAt: START,
    ...over,
  }) as Submission;

describe("watch", () => {
  it("[ALARMS-BOUNDED] a flood of failed lookups from 10,000 addresses uses bounded memory", async () => {
    let most = 0;
    const windows: AlarmWindows = {
      add: async (marks) => {
        most = Math.max(most, marks.length);
        return marks.map(() => 1);
      },
    };
    const { watch, dropped } = scene(windows);
    for (let call = 0; call < 60_000; call++)
      watch.observe({ at: START, outcome: "unknown", tokenHash: `t${call}`, network: `n${call % 10_000}` });
    expect(await watch.evaluate()).toEqual([]);
    expect(most).toBe(20_000);
    expect(dropped()).toBe(100_000);
  });

  it("keeps the signals when the windows can't count, and counts them the next time", async () => {
    let isDown = true;
    const exact = exactWindows();
    const add: AlarmWindows["add"] = async (marks) => {
      if (isDown) throw new Error("down");
      return await exact.add(marks);
    };
    const { watch } = scene({ add });
    for (let call = 0; call < 51; call++) watch.observe({ at: START, outcome: "unknown", network: "n" });
    await expect(watch.evaluate()).rejects.toThrow("down");
    isDown = false;
    expect(await watch.evaluate()).toMatchObject([{ signal: { kind: "failed_lookups" }, count: 51 }]);
    expect(await watch.evaluate()).toEqual([]);
  });

  it("[ALARMS-POLICY] an intake can have an alarm that the server turned off, but none if all are off", async () => {
    const submission = submissionOf("own", { definition: "own" });
    const [some, none] = [scene(exactWindows(), {}), scene(exactWindows(), false)];
    for (const { watch } of [some, none]) watch.observe({ at: START, outcome: "conflict", submission });
    expect(await some.watch.evaluate()).toMatchObject([{ signal: { kind: "submission_conflicts" } }]);
    expect(await none.watch.evaluate()).toEqual([]);
  });

  it("explains why a rule is invalid", () => {
    const rule = { threshold: 1, windowMs: HOUR, responses: [] } as const;
    expect(ruleProblem("token_shared", rule)).toBeUndefined();
    expect(ruleProblem("token_shared", { ...rule, threshold: 0 })).toMatch("more than one address");
    expect(ruleProblem("token_enumeration", { ...rule, threshold: 0 })).toMatch("more than one submission");
    expect(ruleProblem("submission_conflicts", { ...rule, threshold: 0 })).toBeUndefined();
    expect(ruleProblem("country_changed", rule)).toMatch("no count");
    expect(responsesProblem("token_shared", ["revoke", "reissue"])).toMatch("not both");
    expect(responsesProblem("token_enumeration", ["block"])).toBeUndefined();
    expect(responsesProblem("token_enumeration", ["block", "notify_creator"])).toMatch("block only");
    expect(ruleProblem("failed_lookups", { ...rule, windowMs: 1 })).toMatch("a second");
    expect(ruleProblem("failed_lookups", { ...rule, threshold: 10_001 })).toMatch("10000");
    expect(ruleProblem("dormant_token", { ...rule, windowMs: MINUTE })).toMatch("hour");
    expect(ruleProblem("agent_after_handoff", { ...rule, windowMs: DAY })).toMatch("hour");
  });

  it("[ALARMS-QUIET] a week of ordinary traffic raises no alarm", async () => {
    const { watch } = scene();
    const tripped: unknown[] = [];
    const tell = (seen: Omit<Observation, "outcome"> & Partial<Observation>): void =>
      watch.observe({ outcome: "used", ...seen });
    for (let minute = 0; minute < 7 * 24 * 60; minute += 5) {
      const at = START + minute * MINUTE;
      const hour = Math.floor(minute / 60) % 24;
      if (hour >= 8 && hour < 18) {
        // An office behind one address: 50 people, each with a form of the day and a write every other minute.
        for (let person = 0; person < 50; person++) {
          const submission = submissionOf(`office-${person}-${Math.floor(minute / 1440)}`, { updatedAt: at - HOUR });
          tell({ at, submission, tokenHash: `o${person}-${minute}`, network: "office", writer: "human" });
        }
        // Now and then somebody there opens an expired link, or mistypes one.
        if (minute % 60 === 0)
          tell({
            at,
            outcome: "ended",
            tokenHash: `old-${hour}`,
            submission: submissionOf(`old-${hour}`),
            network: "office",
          });
        if (minute % 30 === 0) tell({ at, outcome: "unknown", tokenHash: `typo-${minute}`, network: "office" });
      }
      // A phone moves between the mobile network, a train and home.
      const submission = submissionOf("phone", { updatedAt: at - 10 * MINUTE, createdIn: "DE" });
      for (const network of ["mobile", "train", "home"].slice(0, 1 + (minute % 3)))
        tell({ at, submission, tokenHash: "phone", network, country: "DE" });
      // Two tabs of one person, with a stale one now and then.
      if (minute % 30 === 0)
        tell({ at, outcome: "conflict", submission: submissionOf("tabs"), tokenHash: "tab", network: "home" });
      // Scanners open every link of a mail from their own addresses before the person does.
      if (minute % 60 === 0) {
        const mailed = submissionOf(`mail-${minute}`, { updatedAt: at });
        for (const network of ["scanner-1", "scanner-2", "person"])
          tell({ at, submission: mailed, tokenHash: `m${minute}`, network });
      }
      // A form that waits over the weekend, and an agent that continues when the human is done.
      const done = { humanSince: at - 20_000, completedHandoff: { handoffId: "hof", at: at - 10_000 } };
      const waited = submissionOf("weekend", { updatedAt: at - 3 * DAY, ...done });
      tell({ at, submission: waited, tokenHash: "weekend", writer: "agent" });
      tripped.push(...(await watch.evaluate()));
    }
    expect(tripped).toEqual([]);
  });
});
