import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { METRICS, type MetricSpec } from "@formbridge/telemetry";
import { afterAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { made } from "../../ops/make.ts";
import { tempFolder } from "../support/child.ts";
import { findProgram } from "../support/services/programs.ts";
import { CASES, type Case } from "./alert-cases.ts";

const ROOT = join(import.meta.dirname, "../..");
const RULES = ["alerts.rules.yml", "slo.rules.yml"].map((name) => join(ROOT, "ops/prometheus", name));
const folder = tempFolder();
afterAll(() => folder.remove());

interface Rule {
  alert?: string;
  expr: string;
  annotations?: { runbook?: string };
}
const rules: Rule[] = RULES.flatMap((file) => {
  const { groups } = parse(readFileSync(file, "utf8")) as { groups: { rules: Rule[] }[] };
  return groups.flatMap((group) => group.rules);
});
const alerts = rules.filter(({ alert }) => alert !== undefined);
const promtool = (...args: string[]): string =>
  execFileSync(findProgram("promtool", "prometheus"), args, { encoding: "utf8", stdio: "pipe" });

const seriesNames = new Set(
  Object.entries<MetricSpec>(METRICS).flatMap(([name, { kind }]) =>
    kind === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
);
const namesIn = (expr: string): string[] => expr.match(/\bformbridge_\w+/g) ?? [];

const boards = Object.entries(made()).filter(([path]) => path.startsWith("grafana/"));
const queriesOf = (board: string): string[] =>
  [...board.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) => JSON.parse(text));

it("[OPS-RULES] promtool accepts every rule", () => {
  expect(promtool("check", "rules", ...RULES)).not.toContain("FAILED");
});

it("[OPS-ALERTS] every alert fires on its fault and not on similar harmless metrics", { timeout: 120_000 }, () => {
  expect(Object.keys(CASES).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  const [plain = "", slo = ""] = RULES;
  // Each file of tests evaluates only the rules that it is about, as rarely as it can.
  for (const rule of [plain, slo]) {
    for (const step of ["1m", "5m", "1h", "6h"]) {
      const chosen = Object.entries(CASES).filter(
        ([alert, cases]) => alert.startsWith("Slo") === (rule === slo) && (cases.step ?? "1m") === step,
      );
      const tests = chosen.flatMap(([alert, { fires, quiet }]) => [
        unit({ alert, on: fires, fires: true, step }),
        unit({ alert, on: quiet, fires: false, step }),
      ]);
      const file = join(folder.path, "tests.yml");
      // Alerts on recorded shares come after these: promtool's own order is random.
      const order = rule === slo ? ["formbridge-slo-shares", "formbridge-slo-alerts"] : [];
      const content = { rule_files: [rule], evaluation_interval: step, group_eval_order: order, tests };
      writeFileSync(file, stringify(content, { lineWidth: 0 }));
      expect(() => promtool("test", "rules", file)).not.toThrow();
    }
  }
});

function unit(test: { alert: string; on: Case; fires: boolean; step: string }): object {
  const { alert, on, fires, step } = test;
  return {
    name: `${alert} ${fires ? "fires" : "stays quiet"}`,
    interval: step,
    input_series: Object.entries(on.series).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: on.at,
        exp_samples: fires ? [{ labels: "{}", value: 1 }] : [],
      },
    ],
  };
}

it("[OPS-ALERTS] rules and boards name only metrics that exist", () => {
  const named = [...rules.map(({ expr }) => expr), ...boards.flatMap(([, board]) => queriesOf(board))].flatMap(namesIn);
  expect(named.filter((name) => !seriesNames.has(name))).toEqual([]);
});

it("[OPS-RUNBOOKS] every alert links to an existing page and heading", () => {
  const missing = alerts.filter(({ annotations }) => {
    const [page = "", heading] = (annotations?.runbook ?? "").split("#");
    const file = join(ROOT, page);
    if (page === "" || !existsSync(file)) return true;
    const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-"),
    );
    return heading !== undefined && !headings.includes(heading);
  });
  expect(missing.map(({ alert }) => alert)).toEqual([]);
});

it("[OPS-BOARDS] the checked-in files are those that the code generates", () => {
  for (const [path, text] of Object.entries(made())) {
    expect(readFileSync(join(ROOT, "ops", path), "utf8") === text, `${path}: run node ops/make.ts`).toBe(true);
  }
});

it("[OPS-BOARDS] every query of a board is PromQL", () => {
  const queries = boards.flatMap(([, board]) => queriesOf(board));
  expect(queries.length).toBeGreaterThan(30);
  const asRules = queries.map((expr, index) => ({
    record: `query_${index}`,
    expr: expr.replaceAll("$__range", "1d").replaceAll("$__rate_interval", "5m"),
  }));
  const file = join(folder.path, "boards.yml");
  writeFileSync(file, stringify({ groups: [{ name: "boards", rules: asRules }] }, { lineWidth: 0 }));
  expect(promtool("check", "rules", file)).toContain(`${queries.length} rules found`);
});
