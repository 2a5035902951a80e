/**
 * Installs the Debian packages that the tests need. Runs on Node 20 or later without dependencies. It starts no server: each test run
 * starts its own, with its own ports and folders.
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Package → a program that exists once it is installed. */
const PACKAGES = {
  postgresql: "postgres",
  "redis-server": "redis-server",
  "rabbitmq-server": "rabbitmq-server",
  "nats-server": "nats-server",
  haproxy: "haproxy",
  patroni: "patroni",
  "etcd-server": "etcd",
  pgbouncer: "pgbouncer",
  openssl: "openssl",
  strace: "strace",
  faketime: "faketime",
  chromium: "chromium",
  "libxml2-utils": "xmllint",
  "libhttp-oai-perl": "oai_pmh",
  "libcatmandu-oai-perl": "catmandu",
  prometheus: "prometheus",
};

/** Debian keeps these out of an ordinary user's PATH. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

function isInstalled(program) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_FOLDERS, ...postgresFolders()];
  return folders.some((folder) => folder !== "" && existsSync(join(folder, program)));
}

const POSTGRES = "/usr/lib/postgresql";
const postgresFolders = () =>
  existsSync(POSTGRES) ? readdirSync(POSTGRES).map((version) => join(POSTGRES, version, "bin")) : [];

/**
 * Errors go to a file. A server that a package starts after all would keep a pipe open, and whoever reads ours, such as CI, would wait
 * for its end.
 */
function apt(...args) {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-apt-"));
  const file = join(folder, "errors");
  const errors = openSync(file, "w");
  // Runlevel 1 keeps the package from starting its server.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const { status } = spawnSync("apt-get", args, { stdio: ["ignore", "ignore", errors], env });
  closeSync(errors);
  if (status !== 0) process.stderr.write(readFileSync(file));
  rmSync(folder, { recursive: true });
  return status === 0;
}

/** Doesn't fail the run: a test that needs a missing server reports it. */
export function installServices() {
  const missing = Object.keys(PACKAGES).filter((name) => !isInstalled(PACKAGES[name]));
  if (missing.length === 0) return;
  process.stderr.write(`Installing ${missing.join(", ")} for the tests (once) ...\n`);
  const install = () => apt("install", "--yes", "--quiet", "--no-install-recommends", ...missing);
  // Retry after an update: a fresh machine has no package lists.
  if (install() || (apt("update", "--quiet") && install())) return;
  process.stderr.write(`apt-get can't install ${missing.join(", ")}: the tests that need them will fail.\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installServices();
