import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { EXCEPTIONS } from "./conformance-exceptions.ts";
import { createFixtureServer } from "./fixtures/fixture-server.ts";

const require = createRequire(import.meta.url);
const PACKAGE = require.resolve("@modelcontextprotocol/conformance/package.json");
const SUITE = join(dirname(PACKAGE), "dist/index.js");

let server: TestServer;
let folder: string;
let version = 1;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "formbridge-conformance-"));
  const agentServerClass = createFixtureServer(() => server.putIntake({ id: "forms", version: `${++version}` }));
  server = await startTestServer({ agentServerClass });
  await server.putIntake({ id: "forms" });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/** A scenario that did not come to its end has no checks. */
const checksIn = (file: string): Check[] =>
  existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : [{ id: "all", status: "FAILURE", errorMessage: "broke off" }];

/** Everything that the suite has for a revision, required and informational: each scenario with its failures. */
async function runSuite(revision: string): Promise<Map<string, string[]>> {
  const results = join(folder, revision);
  const args = [SUITE, "server", "--url", `${server.url}/mcp`, "--requirements", revision, "--output-dir", results];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (_, printed, errors) =>
      resolve(printed + errors),
    );
  });
  const expected = Number(/\((\d+) scenarios\)/.exec(output)?.[1]);
  const scenarios = new Map(
    readdirSync(results).map((name) => {
      const failed = checksIn(join(results, name, "checks.json")).filter(({ status }) => status === "FAILURE");
      const [, scenario = ""] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
      return [scenario, failed.map(({ id, errorMessage }) => `${id}: ${errorMessage}`)];
    }),
  );
  if (scenarios.size !== expected || expected < 30) throw new Error(`the suite did not run: ${output}`);
  return scenarios;
}

it.each(["2026-07-28", "2025-11-25"] as const)(
  "[MCP-CONFORMS] [MCP-REVISIONS] the official suite of %s finds nothing but what is listed as an exception, with its reason",
  { timeout: 90_000 },
  async (revision) => {
    const scenarios = await runSuite(revision);
    const failed = [...scenarios].filter(([, problems]) => problems.length > 0);
    const excepted = Object.keys(EXCEPTIONS[revision]);
    const unexpected = failed.filter(([name]) => !excepted.includes(name));
    expect(unexpected).toEqual([]);
    // An exception that passes now, or that the suite does not have, is out of date.
    const outOfDate = excepted.filter((name) => !failed.some(([failing]) => failing === name));
    expect(outOfDate).toEqual([]);
  },
);
