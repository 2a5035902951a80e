import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Account, accountFor, endNow, findProgram, freePort, untilPrinted } from "./programs.ts";

/** A running server that a test may break. */
export interface Breakable {
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on its port, with what it persisted: nothing, unless configured. */
  restart(): Promise<void>;
  /** Stops the process (SIGSTOP): connections stay open, but nothing responds. */
  pause(): void;
  resume(): void;
}

export interface RedisServer extends Breakable {
  port: number;
}

export interface RedisSettings {
  folder: string;
  password: string;
  /** Settings by their name in redis.conf. */
  more?: Record<string, string>;
}

/** A Redis on loopback only, without persistence. */
export async function launchRedis({ folder, password, more = {} }: RedisSettings): Promise<RedisServer> {
  const port = await freePort();
  const dir = redisFolder(folder, String(port));
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir,
    requirepass: password,
    masterauth: password,
    save: "",
    appendonly: "no",
    ...more,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  return { port, ...(await runRedis(flags, dir)) };
}

/** A folder in which Redis may write. */
export function redisFolder(parent: string, name: string): string {
  chmodSync(parent, 0o755);
  const folder = join(parent, name);
  mkdirSync(folder);
  account().own(folder);
  return folder;
}

/** Resolves when it accepts connections. */
export async function runRedis(args: readonly string[], cwd: string): Promise<Breakable> {
  async function launch(): Promise<ChildProcess> {
    const server = account().start(findProgram("redis-server", "redis-server"), args, { cwd, lastSignal: "KILL" });
    // Sentinel says it in other words.
    await untilPrinted(server, /Ready to accept connections|\+monitor master/);
    return server;
  }
  let server = await launch();
  return {
    kill: () => endNow(server),
    restart: async () => {
      await endNow(server);
      server = await launch();
    },
    pause: () => void server.kill("SIGSTOP"),
    resume: () => void server.kill("SIGCONT"),
  };
}

const account = (): Account => accountFor("redis");

export const newPassword = (): string => randomBytes(16).toString("hex");
