import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "./moves.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "apps/server/bin/formbridge.mjs");
const ENDS_WITH_US = ["setpriv", "--pdeathsig=KILL"];

type Env = Record<string, string>;

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Running {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  finished: Promise<Finished>;
}

/**
 * Runs the command as a user does: a separate process that only sees the given environment, and ends with this one at the latest.
 * `under` is prepended to the command line.
 */
export function start(args: readonly string[], env: Env, under: readonly string[] = []): Running {
  const [program = "", ...rest] = [...ENDS_WITH_US, ...under, process.execPath, BIN, ...args];
  const child = spawn(program, rest, {
    cwd: ROOT,
    // Jobs would send to the destinations that tests invent.
    env: { PATH: process.env.PATH ?? "", FORMBRIDGE_PORT: "0", FORMBRIDGE_WORKER: "off", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const finished = new Promise<Finished>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, finished };
}

export const runCommand = (args: readonly string[], env: Env): Promise<Finished> => start(args, env).finished;

export interface ServerProcess {
  url: string;
  pid: number;
  /** Everything it has printed and logged so far. */
  output(): string;
  stdout(): string;
  /** Sends a signal, and returns how it exited. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<Finished>;
  /** Sends SIGKILL. */
  kill(): Promise<Finished>;
}

/** Waits until the process has printed the line; throws if it exits before. */
async function printed({ stdout, finished }: Running, line: RegExp): Promise<RegExpExecArray> {
  let ended: Finished | undefined;
  void finished.then((end) => {
    ended = end;
  });
  return await until(() => {
    if (ended !== undefined) throw new Error(`it ended: ${ended.stdout}${ended.stderr}`);
    return line.exec(stdout()) ?? undefined;
  }, 60_000);
}

/** `formbridge worker`, once it is running. */
export async function startWorkerProcess(env: Env): Promise<{ kill(): Promise<Finished> }> {
  const running = start(["worker"], env);
  await printed(running, /is running jobs/);
  return {
    kill() {
      running.child.kill("SIGKILL");
      return running.finished;
    },
  };
}

/** `formbridge serve`, once it listens. */
export async function startServerProcess(env: Env, under: readonly string[] = []): Promise<ServerProcess> {
  const running = start(["serve"], env, under);
  const [, url = ""] = await printed(running, /listening on (\S+)/);
  const end = (signal: "SIGTERM" | "SIGINT" | "SIGKILL") => {
    running.child.kill(signal);
    return running.finished;
  };
  return {
    url,
    pid: running.child.pid ?? 0,
    output: () => running.stdout() + running.stderr(),
    stdout: running.stdout,
    stop: (signal = "SIGTERM") => end(signal),
    kill: () => end("SIGKILL"),
  };
}

/** A temporary folder, removed after the test. */
export function tempFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "formbridge-proc-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
