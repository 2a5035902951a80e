import { createRequire } from "node:module";
import type { Diagnostics, Parameters } from "recheck";

/** Generous, because a busy machine must not refuse at a restart what it accepted at registration. */
const TIMEOUT_MS = 3000;
const MAX_PATTERN_LENGTH = 1000;
const MAX_REMEMBERED = 1000;

type Check = (source: string, flags: string, params: Parameters) => Diagnostics;
let check: Check | undefined;
const remembered = new Map<string, string | undefined>();

/** Why a pattern is refused, in words that follow its name; undefined if it is safe. */
export function patternProblem(source: string): string | undefined {
  try {
    new RegExp(source, "u");
  } catch {
    return "is not a regular expression (with the u flag)";
  }
  if (source.length > MAX_PATTERN_LENGTH) return `is longer than ${MAX_PATTERN_LENGTH} characters`;
  if (isPlainlyFast(source)) return undefined;
  if (remembered.has(source)) return remembered.get(source);
  const problem = analysed(source);
  if (remembered.size < MAX_REMEMBERED) remembered.set(source, problem);
  return problem;
}

function analysed(source: string): string | undefined {
  // The pure build: no Java, no child process, no worker. Loaded on first use, because loading takes 100 ms.
  check ??= (createRequire(import.meta.url)("recheck/lib/browser.js") as { checkSync: Check }).checkSync;
  const result = check(source, "u", { timeout: TIMEOUT_MS });
  if (result.status === "safe") return undefined;
  if (result.status === "vulnerable") {
    const { type } = result.complexity;
    return `can take ${type} time on a text such as ${result.attack.pattern}; make its repetitions unambiguous`;
  }
  const why = result.error.kind === "timeout" ? "takes too long to analyse" : "can't be analysed";
  return `${why}, so it might be unsafe; make it simpler`;
}

const ATOM = String.raw`(?:\\[pP]\{[^}]*\}|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[dDsSwWtnrfv]|\\[^a-zA-Z0-9]|\[(?:\\.|[^\]\\])*\]|[^\\[\](){}|^$*+?])`;
const CHAIN = new RegExp(`(${ATOM})(?:\\{(\\d+)(,?)(\\d*)\\}|([*+?]))?\\??`, "uy");
const MAX_WAYS = 20_000;
const MAX_WAYS_UNBOUNDED = 16;

/**
 * Anchored, without groups or alternatives, and with few ways to distribute a text among its repetitions. Most patterns
 * in forms are like this; recheck's exact method doesn't cover counted repetitions, and its search takes up to a
 * second.
 */
function isPlainlyFast(source: string): boolean {
  const anchored = source.startsWith("^");
  const end = source.endsWith("$") && !source.endsWith("\\$") ? source.length - 1 : source.length;
  let ways = 1;
  let unbounded = 0;
  let variable = 0;
  CHAIN.lastIndex = anchored ? 1 : 0;
  while (CHAIN.lastIndex < end) {
    const match = CHAIN.exec(source);
    if (match === null) return false;
    const [, , least, comma, most, sign] = match;
    if (sign === undefined && comma !== ",") continue;
    variable++;
    if (sign === "?") ways *= 2;
    else if (sign !== undefined || most === "") unbounded++;
    else ways *= Number(most) - Number(least) + 1;
  }
  if (variable === 0) return true;
  return (
    anchored && (variable === 1 || (unbounded === 0 ? ways <= MAX_WAYS : unbounded === 1 && ways <= MAX_WAYS_UNBOUNDED))
  );
}
