import { Command } from "commander";
import { type ChaosRow, runChaos } from "../chaos/run-chaos.ts";
import { ConfigError } from "../config/reader.ts";
import { complain, printTable } from "./print.ts";
import { milliseconds, serverOf } from "./probe.ts";

interface Options {
  url?: string;
  intake: string;
  field: string;
  timeout: number;
  maxTime: number;
}

const SHOWN = 5;

const HELP = `
Refused unless the server was started with FORMBRIDGE_STAGING=on. The key of FORMBRIDGE_PROBE_KEY may create in the intake, whose
submissions must stay on the server. Takes some seconds, and exits with 1 if the server broke a promise.

Example:
  FORMBRIDGE_PROBE_KEY=fbk_… formbridge chaos --url https://staging.example.com`;

export const chaosCommand = (): Command =>
  new Command("chaos")
    .description(
      "Cause faults on a staging server, and check that nothing is lost or doubled and that histories verify.",
    )
    .option("--url <url>", "the server (default: FORMBRIDGE_HOST and FORMBRIDGE_PORT)")
    .option("--intake <id>", "the intake to work in", "probe")
    .option("--field <name>", "a text field of the intake", "note")
    .option("--timeout <ms>", "how long one call may take", milliseconds, 30_000)
    .option("--max-time <ms>", "after this time no fault is started", milliseconds, 300_000)
    .addHelpText("after", HELP)
    .action(async ({ intake, field, maxTime, ...where }: Options) => {
      const { key, ...server } = serverOf(where);
      if (key === undefined) throw new ConfigError("FORMBRIDGE_PROBE_KEY is not set; it takes an API key.");
      const rows: ChaosRow[] = [];
      for await (const row of runChaos({ ...server, key, intake, field, maxMs: maxTime })) {
        rows.push(row);
        if (process.stderr.isTTY) complain(row.name);
      }
      report(rows);
    });

function report(rows: readonly ChaosRow[]): void {
  printTable(
    ["what", "tried", "ms", "result"],
    rows.map(({ name, tried, ms, problems }) => [
      name,
      String(tried),
      String(Math.round(ms)),
      problems.length === 0 ? "ok" : `${problems.length} problems`,
    ]),
  );
  for (const { name, problems } of rows) {
    for (const problem of problems.slice(0, SHOWN)) complain(`${name}: ${problem}`);
    if (problems.length > SHOWN) complain(`${name}: and ${problems.length - SHOWN} more`);
  }
  if (rows.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
}
