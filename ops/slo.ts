/**
 * Service level objectives, and the Prometheus rules that follow from them: `node ops/make.ts` writes them.
 *
 * Alerts use two windows each (a long one that says it matters, a short one that says it still happens). How fast the budget may burn
 * follows from how much of it one alert may cost: 5 % within an hour wakes somebody up, 10 % within six hours waits for the morning.
 */
import { stringify } from "yaml";

interface Slo {
  name: string;
  summary: string;
  /** The share that must be good. */
  target: number;
  days: number;
  /** PromQL for the share that was bad, over a window. */
  badShare(window: string): string;
}

const share = (bad: string, all: string): string => `(${bad} or vector(0)) / (${all} > 0)`;

export const SLOS: readonly Slo[] = [
  {
    name: "TokenValidation",
    summary: "Tokens are validated without an error of ours",
    target: 0.999,
    days: 7,
    badShare: (window) =>
      share(
        `sum(rate(formbridge_token_accessed_count_total{outcome="error"}[${window}]))`,
        `sum(rate(formbridge_token_accessed_count_total[${window}]))`,
      ),
  },
  {
    name: "TokenValidationLatency",
    summary: "Tokens are validated within 500 ms",
    target: 0.99,
    days: 7,
    badShare: (window) =>
      `1 - sum(rate(formbridge_token_accessed_duration_seconds_bucket{le="0.5"}[${window}])) / (sum(rate(formbridge_token_accessed_duration_seconds_count[${window}])) > 0)`,
  },
  {
    name: "StorageAvailability",
    summary: "The database answers",
    target: 0.9995,
    days: 30,
    badShare: (window) => `1 - avg(avg_over_time(formbridge_store_up{backend!="redis"}[${window}]))`,
  },
  {
    name: "Operations",
    summary: "Operations end without an error of ours",
    target: 0.995,
    days: 7,
    badShare: (window) =>
      share(
        `sum(rate(formbridge_operation_duration_seconds_count{outcome="error"}[${window}]))`,
        `sum(rate(formbridge_operation_duration_seconds_count[${window}]))`,
      ),
  },
  {
    name: "Conflicts",
    summary: "Writes do not conflict",
    target: 0.95,
    days: 7,
    badShare: (window) =>
      share(
        `sum(rate(formbridge_token_conflict_count_total[${window}]))`,
        `sum(rate(formbridge_token_accessed_count_total{operation="patch"}[${window}]))`,
      ),
  },
];

const SPEEDS = [
  { suffix: "BurnsFast", severity: "critical", budget: 0.05, hours: 1, long: "1h", short: "5m", hold: "2m" },
  { suffix: "BurnsSlowly", severity: "warning", budget: 0.1, hours: 6, long: "6h", short: "30m", hold: "15m" },
] as const;

const BUDGET_SPENT = 0.8;
const WINDOWS = ["5m", "30m", "1h", "6h"];
const RUNBOOK = "docs/runbooks/error-budget.md";

const recordOf = ({ name }: Slo, window: string): string =>
  `formbridge:${name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()}:bad_share_${window}`;

const rounded = (value: number): number => Number(value.toPrecision(4));

function alertsOf(slo: Slo): object[] {
  const allowed = 1 - slo.target;
  const burning = SPEEDS.map(({ suffix, severity, budget, hours, long, short, hold }) => {
    const limit = rounded((budget * allowed * slo.days * 24) / hours);
    return {
      alert: `Slo${slo.name}${suffix}`,
      expr: `${recordOf(slo, long)} > ${limit} and ${recordOf(slo, short)} > ${limit}`,
      for: hold,
      labels: { severity },
      annotations: {
        summary: `${slo.summary}: {{ $value | humanizePercentage }} do not`,
        description: `At this speed, ${budget * 100} % of the error budget of ${slo.days} days is used up within ${long}. The objective is ${rounded(slo.target * 100)} %.`,
        runbook: RUNBOOK,
      },
    };
  });
  const spent = {
    alert: `Slo${slo.name}BudgetNearlySpent`,
    expr: `${recordOf(slo, `${slo.days}d`)} > ${rounded(BUDGET_SPENT * allowed)}`,
    for: "1h",
    labels: { severity: "warning" },
    annotations: {
      summary: `${slo.summary}: over ${BUDGET_SPENT * 100} % of the error budget is spent`,
      description: `Over ${slo.days} days, {{ $value | humanizePercentage }} did not. Postpone risky changes until the budget has recovered.`,
      runbook: `${RUNBOOK}#the-budget-is-nearly-spent`,
    },
  };
  return [...burning, spent];
}

export function sloRules(): string {
  const shares = SLOS.flatMap((slo) =>
    [...WINDOWS, `${slo.days}d`].map((window) => ({ record: recordOf(slo, window), expr: slo.badShare(window) })),
  );
  const groups = [
    { name: "formbridge-slo-shares", interval: "1m", rules: shares },
    { name: "formbridge-slo-alerts", rules: SLOS.flatMap(alertsOf) },
  ];
  return `# Made from ops/slo.ts by \`node ops/make.ts\`: change it there.\n${stringify({ groups }, { lineWidth: 0 })}`;
}
