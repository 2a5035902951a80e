import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Account, accountFor, endNow, findProgram, freePort, untilPrinted } from "./programs.ts";

export interface RedisServer {
  port: number;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on its port, with what it persisted: nothing, unless configured. */
  restart(): Promise<void>;
  /** Stops the process (SIGSTOP): connections stay open, but nothing responds. */
  pause(): void;
  resume(): void;
}

export interface RedisSettings {
  folder: string;
  password: string;
  /** Settings by their name in redis.conf. */
  more?: Record<string, string>;
}

/** A Redis on loopback only, without persistence. */
export async function launchRedis({ folder, password, more = {} }: RedisSettings): Promise<RedisServer> {
  const account = accountFor("redis");
  chmodSync(folder, 0o755);
  const port = await freePort();
  const dir = join(folder, String(port));
  mkdirSync(dir);
  account.own(dir);
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
  let server = await launch(account, settings);
  return {
    port,
    kill: () => endNow(server),
    restart: async () => {
      await endNow(server);
      server = await launch(account, settings);
    },
    pause: () => void server.kill("SIGSTOP"),
    resume: () => void server.kill("SIGCONT"),
  };
}

async function launch(account: Account, settings: Record<string, string>): Promise<ChildProcess> {
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = account.start(findProgram("redis-server", "redis-server"), flags, { cwd: settings.dir });
  await untilPrinted(server, "Ready to accept connections");
  return server;
}

export const newPassword = (): string => randomBytes(16).toString("hex");
