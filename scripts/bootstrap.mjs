/**
 * What `npm start` and `npm test` call first. Runs on any Node from 20 on, without a dependency: it installs what the lock file
 * names when that has changed, and hands over to the Node that came with it.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
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
  // Not `npm ci`: it refuses a lock file that lacks the optional packages of other platforms, which not every registry has. And no
  // package's own scripts: for one that brings its binaries along, npm would want Python, a compiler and Node's headers.
  npm("install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts");
  // But the Node that all this runs on comes by a script, and so do the binaries of platforms that were not thought of.
  npm("rebuild", "node");
  if (!hasSqliteBinary()) npm("rebuild", "better-sqlite3");
  writeFileSync(stamp, wanted);
}

/** Each task is a list of commands, run one after the other; the first that fails ends it. */
const TASKS = {
  start: [[bin("node"), "apps/server/bin/formbridge.mjs", "serve"]],
  test: [
    [bin("tsc"), "--noEmit"],
    [bin("tsc"), "--noEmit", "-p", "packages/mcp/form-page"],
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

function run(command, env) {
  return new Promise((resolve) => {
    const [file, ...args] = command;
    const child = spawn(file, args, { cwd: root, stdio: "inherit", env });
    // The terminal's signals reach the child too; a signal sent to this process alone is passed on.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
    child.on("exit", (code, signal) => resolve(signal === null ? code : 1));
  });
}

const [task = "start", ...rest] = process.argv.slice(2);
const commands = TASKS[task];
if (commands === undefined) {
  process.stderr.write(`There is no task ${task}; there are ${Object.keys(TASKS).join(", ")}.\n`);
  process.exit(1);
}
install();
if (task.startsWith("test") || task === "story") installServices();
const env = {
  ...process.env,
  PATH: `${join(modules, ".bin")}:${process.env.PATH}`,
  ...(task.endsWith(":long") && { FORMBRIDGE_LONG: "1" }),
};
for (const [index, command] of commands.entries()) {
  const code = await run(index === commands.length - 1 ? [...command, ...rest] : command, env);
  if (code !== 0) process.exit(code ?? 1);
}
