/**
 * Entry point of `npm start`, `npm test` and the other tasks. Runs on Node 20 or later without dependencies: it runs `npm ci` when
 * the lock file has changed, then starts the task on the Node version that was installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installServices } from "./services.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const stamp = join(modules, ".installed");
const bin = (name) => join(modules, ".bin", name);

function installedFor() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return createHash("sha256").update(lock).digest("hex");
}

function npm(...args) {
  const { status } = spawnSync("npm", [...args, "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) process.exit(status ?? 1);
}

function hasSqliteBinary() {
  const script = join(modules, "better-sqlite3/lib/binding.js");
  return spawnSync(bin("node"), [script], { encoding: "utf8" }).stdout.trim() === "1";
}

function install() {
  const wanted = installedFor();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  process.stderr.write("Installing dependencies (once) ...\n");
  // No install scripts: packages ship prebuilt binaries, and compiling them would need Python and a compiler. The exceptions are
  // `node`, whose script links its binary, and better-sqlite3 on a platform without a prebuilt one.
  npm("ci", "--no-audit", "--no-fund", "--ignore-scripts");
  npm("rebuild", "node");
  if (!hasSqliteBinary()) npm("rebuild", "better-sqlite3");
  writeFileSync(stamp, wanted);
}

const PAGES = "apps/web/dist";

/** A digest of every file that goes into the pages. */
function pagesSource() {
  const digest = createHash("sha256").update(installedFor());
  for (const folder of ["apps/web", "packages/form", "packages/client"]) {
    const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.filter((file) => !/[\\/](?:dist|node_modules|test)[\\/]/.test(file)).sort()) {
      digest.update(file.slice(root.length)).update(readFileSync(file));
    }
  }
  return digest.digest("hex");
}

/** Builds the web pages if their sources have changed. */
function buildPages() {
  const built = join(root, PAGES, ".built");
  const wanted = pagesSource();
  if (existsSync(built) && readFileSync(built, "utf8") === wanted) return;
  const args = ["build", "--config", "apps/web/vite.config.ts", "--logLevel", "error"];
  const { status } = spawnSync(bin("vite"), args, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    env: withOwnNode,
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(built, wanted);
}

/** Each task is a list of commands; the first failure stops it. */
const TASKS = {
  start: [[bin("node"), "apps/server/bin/formbridge.mjs", "serve"]],
  test: [
    [bin("tsc"), "--noEmit"],
    [bin("tsc"), "--noEmit", "-p", "packages/form"],
    [bin("tsc"), "--noEmit", "-p", "apps/web"],
    [bin("biome"), "ci", "--error-on-warnings", "."],
    [bin("knip")],
    [bin("vitest"), "run"],
  ],
  "test:long": [[bin("vitest"), "run"]],
  "test:planted": [[bin("node"), "scripts/planted-bugs/run.ts"]],
  story: [[bin("node"), "examples/story/run.ts"]],
  bench: [[bin("node"), "bench/run.ts"]],
  "bench:long": [[bin("node"), "bench/run.ts", "--long"]],
};

/** A run of the tests that takes longer hangs: a process that a test left behind can hold the runner's pipes open. */
const TEST_LIMIT_MINUTES = 45;

function run(command, env) {
  return new Promise((resolve) => {
    const [file, ...args] = command;
    const child = spawn(file, args, { cwd: root, stdio: "inherit", env });
    const giveUp = () => {
      process.stderr.write(`The tests did not end within ${TEST_LIMIT_MINUTES} minutes.\n`);
      child.kill("SIGKILL");
    };
    if (task === "test") setTimeout(giveUp, TEST_LIMIT_MINUTES * 60_000).unref();
    // A terminal signals the whole process group; forward signals sent to this process alone.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.on("exit", (code, signal) => resolve(signal === null ? code : 1));
  });
}

const [task = "start", ...rest] = process.argv.slice(2);
const commands = TASKS[task];
if (commands === undefined) {
  process.stderr.write(`Unknown task "${task}". Tasks: ${Object.keys(TASKS).join(", ")}.\n`);
  process.exit(1);
}
install();
const withOwnNode = { ...process.env, PATH: `${join(modules, ".bin")}:${process.env.PATH}` };
buildPages();
if (task.startsWith("test")) installServices();
const env = {
  ...withOwnNode,
  ...(task.endsWith(":long") && { FORMBRIDGE_LONG: "1" }),
};
for (const [index, command] of commands.entries()) {
  const code = await run(index === commands.length - 1 ? [...command, ...rest] : command, env);
  if (code !== 0) process.exit(code ?? 1);
}
