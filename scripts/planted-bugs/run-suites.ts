import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** `broken`: no verdict, because the tests couldn't run properly. */
export interface Verdict {
  kind: "passed" | "failed" | "broken";
  tests: number;
  /** The first failed test and why, or what broke. */
  detail: string;
}

interface Report {
  numTotalTests: number;
  success: boolean;
  testResults: { name: string; status: string; message: string; assertionResults: TestResult[] }[];
}
interface TestResult {
  fullName: string;
  status: string;
  failureMessages?: string[];
}

const MAX_NAME = 90;
const MAX_REASON = 120;

/**
 * Whether the failure comes from a typo in the planted text rather than a failed assertion. A test may also throw by
 * itself, for example on a response without an error.
 */
function isSlip(failure: string): boolean {
  if (/^(SyntaxError|ReferenceError)\b/.test(failure)) return true;
  const where = failure.split("\n").find((line) => /^\s+at /.test(line)) ?? "";
  return failure.startsWith("TypeError") && !/\.test\.ts|packages\/conformance\//.test(where);
}

/** Runs the copy's test files up to the first failure, in a separate process. */
export async function runSuites(tree: string, files: readonly string[], signal: AbortSignal): Promise<Verdict> {
  const output = join(tree, "planted-report.json");
  rmSync(output, { force: true });
  const vitest = join(tree, "node_modules/vitest/vitest.mjs");
  const options = ["run", "--project", "embedded", "--bail=1", "--reporter=json", `--outputFile=${output}`];
  const child = spawn(process.execPath, [vitest, ...options, ...files], { cwd: tree, stdio: "ignore", signal });
  const [code] = await once(child, "exit");
  if (!existsSync(output)) return { kind: "broken", tests: 0, detail: "vitest left no report" };
  const verdict = verdictOf(JSON.parse(readFileSync(output, "utf8")) as Report);
  // A worker that died, out of memory for example, has reported no failure.
  return verdict.kind === "passed" && code !== 0 ? { ...verdict, kind: "broken", detail: "vitest failed" } : verdict;
}

export function verdictOf({ numTotalTests: tests, success, testResults }: Report): Verdict {
  const unread = testResults.find(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  if (unread !== undefined) return { kind: "broken", tests, detail: firstLine(unread.message) };
  const failures = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages: [why = ""] = [] }) => ({ name: fullName.trim().slice(0, MAX_NAME), why }));
  const found = failures.find(({ why }) => !isSlip(why));
  if (found !== undefined) return { kind: "failed", tests, detail: `${found.name}: ${firstLine(found.why)}` };
  const [slip] = failures;
  if (slip !== undefined || !success || tests === 0) {
    return { kind: "broken", tests, detail: firstLine(slip?.why ?? "vitest failed without a failed test") };
  }
  return { kind: "passed", tests, detail: "" };
}

const firstLine = (text: string): string => (text.split("\n")[0] ?? "").slice(0, MAX_REASON);
