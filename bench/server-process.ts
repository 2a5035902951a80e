import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuSecondsOf } from "./processes.ts";

export const ADMIN_KEY = "fbk_bench_admin_key_of_one_run";
export const SECRET = "the secret of one run of the benchmark";
const root = fileURLToPath(new URL("..", import.meta.url));

export interface Server {
  name: string;
  port: number;
  /** Ports of other processes that serve the same submissions. */
  otherPorts?: number[];
  /** The API key of the agent that creates. */
  apiKey: string;
  /** Resident memory in megabytes. */
  rss(): number;
  /** The heap in use after a full collection, in megabytes. Only of a server started with `HEAP_PROBE`. */
  heap(): Promise<number>;
  /** Seconds of CPU used so far. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** Node's options for a server whose heap is measured. */
export const HEAP_PROBE = ["--expose-gc", "--import", new URL("heap-probe.ts", import.meta.url).href];

interface Start {
  name: string;
  args: string[];
  env: Record<string, string>;
}

interface OursOptions {
  nodeOptions?: string[];
  /** Replaces the embedded file. */
  databaseUrl?: string;
  /** Replaces the benchmark's own. */
  intakes?: string;
  env?: Record<string, string>;
}

/** FormBridge as started normally, with rate limits off and everything else at its default. */
export async function startOurs(folder: string, options: OursOptions = {}): Promise<Server> {
  const { nodeOptions = [], databaseUrl, env, intakes = join(root, "bench/intakes") } = options;
  const server = await start({
    name: "formbridge",
    args: [...nodeOptions, join(root, "apps/server/bin/formbridge.mjs"), "serve"],
    env: {
      FORMBRIDGE_DATA: folder,
      FORMBRIDGE_PORT: "0",
      FORMBRIDGE_RATE_LIMIT: "off",
      FORMBRIDGE_SECRET: SECRET,
      FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
      FORMBRIDGE_INTAKES: intakes,
      ...(databaseUrl !== undefined && { FORMBRIDGE_DATABASE_URL: databaseUrl }),
      ...env,
    },
  });
  return { ...server, apiKey: await issueKey(server.port) };
}

async function issueKey(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/keys`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ name: "Bench", roles: ["agent"], actor: { kind: "agent", id: "bench-agent" } }),
  });
  const { key } = (await answer.json()) as { key?: string };
  if (key === undefined) throw new Error(`no key: ${answer.status}`);
  return key;
}

export const startFloor = (folder: string, nodeOptions: string[] = []): Promise<Server> =>
  start({ name: "floor", args: [...nodeOptions, join(root, "bench/floor/sqlite-server.ts"), folder], env: {} });

/** The floor for PostgreSQL, on an empty database. */
export const startPostgresFloor = (url: string): Promise<Server> =>
  start({ name: "floor", args: [join(root, "bench/floor/postgres-server.ts"), url], env: {} });

async function start({ name, args, env }: Start): Promise<Server> {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, args, {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const port = await portOf(child, name);
  const { pid = 0 } = child;
  return {
    name,
    port,
    apiKey: "fbk_unused",
    rss: () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
    async heap() {
      child.send("heap");
      const [megabytes] = await once(child, "message");
      return Number(megabytes);
    },
    cpuSeconds: () => cpuSecondsOf(pid).own,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/** Both servers print the URL they listen on. */
function portOf(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-10_000);
      const port = /listening (?:on|at) http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
      if (port === undefined) return;
      // Drain its log, or the pipe would fill up and block it.
      child.stdout?.removeAllListeners("data").resume();
      resolve(Number(port));
    });
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code} before it listened:\n${printed}`)));
  });
}
