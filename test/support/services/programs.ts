import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from "node:child_process";
import { chownSync, existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";

const POSTGRES = "/usr/lib/postgresql";

/** Debian has a folder per version for PostgreSQL's programs; use the newest. */
const postgresFolders = (): string[] =>
  existsSync(POSTGRES)
    ? readdirSync(POSTGRES)
        .sort((one, other) => Number(other) - Number(one))
        .map((version) => join(POSTGRES, version, "bin"))
    : [];

export function findProgram(name: string, aptPackage: string): string {
  const folders = [...postgresFolders(), ...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new Error(`${name} is not installed. node scripts/services.mjs installs it, from the package ${aptPackage}.`);
}

/** Some servers refuse to run as root. What is started as this user ends with the test run, however that ends. */
export interface Account {
  own(folder: string): void;
  start(file: string, args: readonly string[], options?: StartOptions): ChildProcess;
}

interface StartOptions extends SpawnOptions {
  /**
   * Sent to it when the test run has ended. QUIT makes PostgreSQL end its processes. KILL is for what ignores that: HAProxy, and what a
   * test has stopped.
   */
  lastSignal?: "QUIT" | "KILL";
}

export function accountFor(user: string): Account {
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: "-u" | "-g"): number => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));
  const dress = isRoot ? [`--reuid=${user}`, `--regid=${user}`, "--init-groups"] : [];
  return {
    own: (folder) => {
      if (isRoot) chownSync(folder, idOf("-u"), idOf("-g"));
    },
    start: (file, args, { lastSignal = "QUIT", ...options } = {}) =>
      spawn("setpriv", [...dress, `--pdeathsig=${lastSignal}`, file, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
        ...options,
      }),
  };
}

/** An unused loopback port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

let networks = Date.now();

/** The start of loopback addresses that nobody else uses: servers keep the ports of their configuration there. */
export function ownNetwork(): string {
  networks += 1;
  return `127.${20 + (process.pid % 200)}.${1 + (networks % 250)}.`;
}

/** Resolves when the process has printed the line; rejects with its whole output if it exits before. */
export function untilPrinted(child: ChildProcess, ready: string | RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = "";
    const read = (text: Buffer) => {
      if (printed.length < 100_000) printed += text;
      if (printed.search(ready) >= 0) resolve();
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${child.spawnargs.join(" ")} ended with ${code}: ${printed}`)));
  });
}

export const untilEnded = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let printed = "";
    child.stdout?.resume();
    child.stderr?.on("data", (text) => {
      printed += text;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${child.spawnargs.join(" ")} ended with ${code}: ${printed}`));
    });
  });

/** Kills a process, as a crash would. */
export const endNow = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
