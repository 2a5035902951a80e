import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountFor, endNow, findProgram, freePort, untilPrinted } from "./programs.ts";

export interface Target {
  job: string;
  /** The target's URL: `http://host:port/metrics`. */
  url: string;
  /** The bearer key it requires. */
  key?: string;
}

export interface Prometheus {
  /** The current values of an expression, one per series. */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>;
  stop(): Promise<void>;
}

/** A Prometheus that scrapes these targets, and evaluates these rules, several times a second. */
export async function startPrometheus(targets: readonly Target[], rules?: object): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-prometheus-"));
  chmodSync(folder, 0o755);
  const account = accountFor("prometheus");
  const data = join(folder, "data");
  mkdirSync(data);
  account.own(data);
  const config = join(folder, "prometheus.json");
  const ruleFile = join(folder, "rules.json");
  if (rules !== undefined) writeFileSync(ruleFile, JSON.stringify(rules));
  // JSON is valid YAML.
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: "250ms", scrape_timeout: "250ms", evaluation_interval: "500ms" },
      ...(rules !== undefined && { rule_files: [ruleFile] }),
      scrape_configs: targets.map(({ job, url, key }) => ({
        job_name: job,
        static_configs: [{ targets: [new URL(url).host] }],
        ...(key !== undefined && { authorization: { credentials: key } }),
      })),
    }),
  );
  const port = await freePort();
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--query.lookback-delta=1m",
  ];
  const server = account.start(findProgram("prometheus", "prometheus"), flags, { cwd: data });
  await untilPrinted(server, "Server is ready to receive web requests");
  return {
    async query(expression) {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const answer = (await (await fetch(url)).json()) as {
        data: { result: { metric: Record<string, string>; value: [number, string] }[] };
      };
      return answer.data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    async stop() {
      await endNow(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
