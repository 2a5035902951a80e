import { Command, InvalidArgumentError } from "commander";
import { localUrl } from "../compose.ts";
import { readConfig } from "../config/config.ts";
import { urlOnThisMachine } from "../file-owner.ts";
import { type Server, serverUrl } from "../probe/calls.ts";
import { type ProbeReport, runProbe } from "../probe/run-probe.ts";
import { fail, print } from "./print.ts";

interface Options {
  url?: string;
  intake: string;
  fields: Record<string, unknown>;
  deliver?: true;
  timeout: number;
}

function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  throw new InvalidArgumentError('It takes a JSON object, such as {"note":"a probe"}.');
}

export function milliseconds(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError("It takes milliseconds, from 1 to 9999999.");
  return Number(text);
}

/** The server that the options name, or else the one of this machine's settings. */
export function serverOf({ url, timeout }: { url?: string | undefined; timeout: number }): Server {
  const config = readConfig();
  return {
    url: url === undefined ? urlOnThisMachine(localUrl(config)) : serverUrl(url),
    ...(config.probeKey !== undefined && { key: config.probeKey }),
    timeoutMs: timeout,
  };
}

function lineOf(url: string, { submissionId, state, steps }: ProbeReport): string {
  const total = steps.reduce((sum, { ms }) => sum + ms, 0);
  const times = [...steps, { name: "total", ms: total }].map(({ name, ms }) => `${name} ${Math.round(ms)} ms`);
  return ["ok", url, ...times, state, submissionId].join("  ");
}

const HELP = `
Without --url it calls the server of this machine's settings. The key comes from FORMBRIDGE_PROBE_KEY; a public intake needs none.
Prints one line, and exits with 1 if a step failed. The submission ends with the probe, or is cancelled, or expires within minutes.

Examples:
  formbridge probe --intake contact --fields '{"name":"Probe","email":"probe@example.com","message":"A probe."}'
  FORMBRIDGE_PROBE_KEY=fbk_… formbridge probe --url https://forms.example.com`;

export const probeCommand = (): Command =>
  new Command("probe")
    .description("Create, fill in and submit one submission on a running server, for cron.")
    .option("--url <url>", "the server (default: FORMBRIDGE_HOST and FORMBRIDGE_PORT)")
    .option("--intake <id>", "the intake to fill in", "probe")
    .option("--fields <json>", "what to fill in", jsonObject, { note: "synthetic probe" })
    .option("--deliver", "allow an intake that delivers to a destination or asks reviewers")
    .option("--timeout <ms>", "how long one call may take", milliseconds, 10_000)
    .addHelpText("after", HELP)
    .action(async ({ intake, fields, deliver, ...where }: Options) => {
      const server = serverOf(where);
      try {
        print(lineOf(server.url, await runProbe({ ...server, intake, fields, deliver: deliver === true })));
      } catch (error) {
        fail(`FAILED  ${server.url}  ${error instanceof Error ? error.message : String(error)}`);
      }
    });
