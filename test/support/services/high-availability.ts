/**
 * The machines of docs/how-to/high-availability.md on loopback, from the same configuration files: 10.0.0.x becomes an address of this
 * run in 127.0.0.0/8, so that all ports stay as they are in the files.
 *
 *   FormBridge ─▶ PgBouncer ─▶ HAProxy ─▶ whichever of db1 and db2 holds the lease in etcd (db1, db2, witness)
 */
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { until } from "../moves.ts";
import { accountFor, endNow, findProgram, ownNetwork } from "./programs.ts";

export const CONFIGS = join(import.meta.dirname, "../../../ops/high-availability");
const account = accountFor("postgres");
const ETCD = { db1: "21", db2: "22", witness: "23" } as const;
const APP = "11";

/**
 * Processes in a PID namespace end together, as on a machine that loses its power. The namespace also ends with its standard input, which
 * is a pipe of this process.
 */
const MACHINE = ["--user", "--map-user=1000", "--map-group=1000", "--pid", "--fork", "--kill-child", "--mount-proc"];
const INIT = 'exec 3<&0; "$@" & cat <&3 & wait -n';

export interface Member {
  name: string;
  /** Ends all its processes at once. */
  cutPower(): Promise<void>;
  /** Kills PostgreSQL, but not Patroni. */
  crashPostgres(): void;
  boot(): void;
}

export interface HighAvailability {
  /** For the servers. */
  env: { FORMBRIDGE_DATABASE_URL: string; FORMBRIDGE_DATABASE_DIRECT_URL: string };
  /** The member that holds the lease and takes writes; undefined while there is none. */
  primary(): Promise<Member | undefined>;
  /** Waits until there is a primary with a synchronous standby, and returns the primary. */
  untilRedundant(): Promise<Member>;
  log(): string;
  remove(): Promise<void>;
}

interface Run {
  folder: string;
  /** The start of every address: 127.x.y. */
  net: string;
  log: string[];
}

export async function startHighAvailability(): Promise<HighAvailability> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-ha-"));
  chmodSync(folder, 0o755);
  account.own(folder);
  const run: Run = { folder, net: ownNetwork(), log: [] };
  const programs = Object.entries(ETCD).map(([name, host]) => startEtcd(run, name, host));
  const members = [startMember(run, "db1", ETCD.db1), startMember(run, "db2", ETCD.db2)];
  programs.push(startProgram(run, "haproxy", ["-db", "-f", configFile(run, "haproxy.cfg")]));
  configFile(run, "userlist.txt");
  programs.push(startProgram(run, "pgbouncer", [configFile(run, "pgbouncer.ini")]));

  async function primary(): Promise<Member | undefined> {
    for (const member of members) if (await member.is("primary")) return member;
    return undefined;
  }
  const ha: HighAvailability = {
    env: {
      FORMBRIDGE_DATABASE_URL: `postgres://formbridge:change-me-formbridge@${run.net}${APP}:6432/formbridge`,
      FORMBRIDGE_DATABASE_DIRECT_URL: `postgres://formbridge:change-me-formbridge@${run.net}${APP}:5000/formbridge`,
    },
    primary,
    async untilRedundant() {
      return await until(async () => {
        const one = await primary();
        const standby = members.find((member) => member !== one);
        return (await standby?.is("sync")) ? one : undefined;
      }, 90_000);
    },
    log: () => run.log.join(""),
    async remove() {
      await Promise.all([...members.map((member) => member.cutPower()), ...programs.map(endNow)]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await ha.untilRedundant();
    await createDatabase(`postgres://postgres:change-me-superuser@${run.net}${APP}:5000/postgres`);
    return ha;
  } catch (error) {
    await ha.remove();
    throw new Error(`the cluster did not come up:\n${ha.log().slice(-4_000)}`, { cause: error });
  }
}

/** What the how-to page has the operator do. */
async function createDatabase(url: string): Promise<void> {
  const sql = readFileSync(join(CONFIGS, "database.sql"), "utf8");
  await until(async () => {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
    } catch {
      return undefined;
    }
    // One by one: a database can't be created among other statements.
    for (const statement of sql.split(";\n")) await client.query(statement);
    await client.end();
    return true;
  });
}

/** The file as this run needs it, for db1 unless told otherwise. */
function configFile({ folder, net }: Run, name: string, to = name, own: [string, string] = ["db1", ETCD.db1]): string {
  const text = readFileSync(join(CONFIGS, name), "utf8")
    .replace(/^(name: |ETCD_NAME=)db1$/m, `$1${own[0]}`)
    .replace(/(listen: |connect_address: |_URLS=http:\/\/)10\.0\.0\.21/g, `$110.0.0.${own[1]}`)
    .replaceAll("127.0.0.1", `${net}${APP}`)
    .replaceAll("10.0.0.0/24", "127.0.0.0/8")
    .replaceAll("10.0.0.", net)
    .replaceAll(/\/var\/(?:lib|run)\/(etcd|postgresql)(?:\/15)?\b/g, join(folder, own[0], "$1"))
    .replaceAll("/etc/pgbouncer", join(folder, own[0]));
  const file = join(folder, own[0], to);
  for (const part of ["", "etcd", "postgresql"]) {
    mkdirSync(join(folder, own[0], part), { recursive: true });
    account.own(join(folder, own[0], part));
  }
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

function startProgram(run: Run, name: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const options = { env: { PATH: process.env.PATH, ...env }, lastSignal: "KILL" } as const;
  const program = account.start(findProgram(name, name), args, options);
  return logged(run, name, program);
}

function logged({ log }: Run, name: string, child: ChildProcess): ChildProcess {
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => log.push(`${name}: ${text}`));
  return child;
}

function startEtcd(run: Run, name: string, host: string): ChildProcess {
  const lines = readFileSync(configFile(run, "etcd.env", "etcd.env", [name, host]), "utf8").split("\n");
  const env = Object.fromEntries(lines.filter((line) => /^\w+=/.test(line)).map((line) => line.split(/=(.*)/s)));
  // Its disk is shared with everything else here; without sync it responds in time.
  return startProgram(run, "etcd", ["--unsafe-no-fsync", "--heartbeat-interval=250", "--election-timeout=2500"], env);
}

function startMember(run: Run, name: string, host: string): Member & { is(role: string): Promise<boolean> } {
  const config = configFile(run, "patroni.yml", "patroni.yml", [name, host]);
  const data = join(run.folder, name, "postgresql/formbridge");
  const start = () =>
    logged(
      run,
      name,
      account.start("unshare", [...MACHINE, "bash", "-c", INIT, "init", findProgram("patroni", "patroni"), config], {
        stdio: ["pipe", "pipe", "pipe"],
        env: { PATH: process.env.PATH, LC_ALL: "C" },
      }),
    );
  let machine = start();
  return {
    name,
    cutPower: () => endNow(machine),
    crashPostgres() {
      const [number] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
      const postmaster = descendantsOf(machine.pid ?? 0).find((pid) => numberInside(pid) === number) ?? 0;
      // Stopped first, so that it starts no more processes.
      signal(postmaster, "SIGSTOP");
      for (const pid of descendantsOf(postmaster)) signal(pid, "SIGKILL");
    },
    boot() {
      machine = start();
    },
    async is(role) {
      const url = `http://${run.net}${host}:8008/${role}`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
      await answer?.text().catch(() => {});
      return answer?.status === 200;
    },
  };
}

/** How a process is numbered in its namespace. */
const numberInside = (pid: number): string | undefined => /^NSpid:.*\t(\d+)$/m.exec(readProcess(pid, "status"))?.[1];

function descendantsOf(pid: number): number[] {
  const children = readProcess(pid, `task/${pid}/children`).trim().split(/\s+/).filter(Boolean);
  return [pid, ...children.flatMap((child) => descendantsOf(Number(child)))];
}

/** Empty once the process has ended. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
