/**
 * Plants bugs in a copy of the working tree, one at a time, and shows that the suites notice each of them:
 *
 *   copy ──▶ all suites green ──▶ per bug: plant · run its suites, which must fail · restore ──▶ table
 *
 * Arguments select the bugs whose names contain one of them. Exits with 1 if a bug went unnoticed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUGS } from "./bugs/index.ts";
import { copyTree } from "./copy-tree.ts";
import { type PlantedBug, plant } from "./planted-bug.ts";
import { runSuites, type Verdict } from "./run-suites.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WORDS: Record<Verdict["kind"], string> = { failed: "caught", passed: "SURVIVED", broken: "NO VERDICT" };

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function chosen(words: string[]): PlantedBug[] {
  const bugs = BUGS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  if (bugs.length === 0) throw new Error(`no planted bug is called ${words.join(" or ")}`);
  return bugs;
}

async function tryOne(tree: string, bug: PlantedBug, signal: AbortSignal): Promise<boolean> {
  const file = join(tree, bug.file);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, plant(source, bug));
  try {
    let caught = true;
    for (const suite of bug.caughtBy) {
      const { kind, detail } = await runSuites(tree, [suite], signal);
      print(`| ${bug.name} | ${suite} | ${WORDS[kind]} | ${detail.replaceAll("|", "\\|")} |`);
      caught &&= kind === "failed";
    }
    return caught;
  } finally {
    writeFileSync(file, source);
  }
}

async function run(bugs: PlantedBug[], signal: AbortSignal): Promise<boolean> {
  const tree = copyTree(ROOT);
  try {
    // Try all of them first, so that a bug that no longer fits is reported at once.
    for (const bug of bugs) plant(readFileSync(join(tree.path, bug.file), "utf8"), bug);
    const suites = [...new Set(bugs.flatMap(({ caughtBy }) => caughtBy))];
    const green = await runSuites(tree.path, suites, signal);
    if (green.kind !== "passed") throw new Error(`the suites fail without a planted bug: ${green.detail}`);
    print(`${suites.length} suites with ${green.tests} tests are green without a planted bug.\n`);
    print("| planted bug | suite | verdict | the test that failed |\n| --- | --- | --- | --- |");
    let unnoticed = 0;
    for (const bug of bugs) if (!(await tryOne(tree.path, bug, signal))) unnoticed += 1;
    print(`\n${bugs.length - unnoticed} of ${bugs.length} planted bugs were caught.`);
    return unnoticed === 0;
  } finally {
    tree.remove();
  }
}

const stop = new AbortController();
// A signal may arrive twice: from the terminal, and forwarded by the bootstrap.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
try {
  process.exitCode = (await run(chosen(process.argv.slice(2)), stop.signal)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
