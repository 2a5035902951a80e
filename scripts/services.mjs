/**
 * The servers and tools that tests need beside Node, from Debian's packages. Runs on any Node from 20 on, without a dependency. Installs what is
 * missing and starts nothing: each test run starts its own servers, on ports and folders of its own.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Package → the program that shows that it is there. */
const PACKAGES = {
  postgresql: "postgres",
  "redis-server": "redis-server",
  "rabbitmq-server": "rabbitmq-server",
  "nats-server": "nats-server",
  haproxy: "haproxy",
  openssl: "openssl",
  strace: "strace",
  faketime: "faketime",
  chromium: "chromium",
};

/** Debian keeps these out of an ordinary user's PATH. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

function isThere(program) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_FOLDERS, ...postgresFolders()];
  return folders.some((folder) => folder !== "" && existsSync(join(folder, program)));
}

const POSTGRES = "/usr/lib/postgresql";
const postgresFolders = () =>
  existsSync(POSTGRES) ? readdirSync(POSTGRES).map((version) => join(POSTGRES, version, "bin")) : [];

function apt(...args) {
  // Runlevel 1: the package's own server is not started, only installed.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  return spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"], env }).status === 0;
}

/** Never ends the run: a test that finds no server says so itself. */
export function installServices() {
  const missing = Object.keys(PACKAGES).filter((name) => !isThere(PACKAGES[name]));
  if (missing.length === 0) return;
  process.stderr.write(`Installing ${missing.join(", ")} for the tests (once) ...\n`);
  const install = () => apt("install", "--yes", "--quiet", "--no-install-recommends", ...missing);
  // The second try is for machines that have never fetched the lists of packages.
  if (install() || (apt("update", "--quiet") && install())) return;
  process.stderr.write(`apt-get can't install ${missing.join(", ")}: the tests that need them will fail.\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installServices();
