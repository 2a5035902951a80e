/** The rules of `ops/prometheus` for a test in which a minute stands for hours. Expressions stay as they are. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

interface Rule {
  alert?: string;
  expr: string;
  for?: string;
}
interface Group {
  name: string;
  interval?: string;
  rules: Rule[];
}

const FILES = ["alerts.rules.yml", "slo.rules.yml"];

/** Thresholds that need many callers or a long time, and lower ones that a few calls reach. Each is at the end of its expression. */
const LOWERED: Record<string, [threshold: string, lowered: string]> = {
  TokenValidationHighLatency: ["> 1", "> 0.5"],
  HighTokenCreationRate: ["> 100", "> 0.01"],
  TokenCreationsUnusual: ["> 1000", "> 3"],
  TokensExpireUnused: ["> 0.5", "> 0"],
  IdempotencyLockTimeouts: ["> 10", "> 0"],
  IdempotencyLocksAbandoned: ["> 1", "> 0"],
  IdempotencyLockHeldLong: ["> 25", "> 0.1"],
  IdempotencyReplayShareHigh: ["> 0.3", "> 0.05"],
};

const groups: Group[] = FILES.flatMap(
  (file) => parse(readFileSync(join(import.meta.dirname, "../../ops/prometheus", file), "utf8")).groups as Group[],
);

function lower({ alert = "", expr }: Rule): string {
  const [threshold, lowered] = LOWERED[alert] ?? ["", ""];
  if (!expr.endsWith(threshold)) throw new Error(`${alert} does not end in ${threshold} any more`);
  return expr.slice(0, expr.length - threshold.length) + lowered;
}

export const hastyRules = {
  // Alerts don't wait (`for`): a fault of seconds is enough.
  groups: groups.map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) => ({ ...rule, ...(rule.alert !== undefined && { for: "0s" }), expr: lower(rule) })),
  })),
};

export const ALERTS: readonly string[] = groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
