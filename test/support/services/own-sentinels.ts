/**
 * Redis and its sentinels of docs/how-to/high-availability.md on loopback, from the same configuration files: 10.0.0.x becomes an
 * address of this run in 127.0.0.0/8.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "redis";
import { until } from "../moves.ts";
import { CONFIGS } from "./high-availability.ts";
import { accountFor, ownNetwork } from "./programs.ts";
import { type Breakable, redisFolder, runRedis } from "./start-redis.ts";

const NAME = "formbridge";
const PASSWORD = "change-me-redis";
const SERVERS = ["21", "22"];
const SENTINELS = ["21", "22", "23"];
const PATIENCE_MS = 1_000;

export interface OwnSentinels {
  url: string;
  sentinels: Breakable[];
  /** The server that the sentinels call the primary, once it says so too. */
  untilPrimary(isOther?: (server: Breakable) => boolean): Promise<Breakable>;
  /** Waits until the primary has a replica that could take over, and returns the primary. */
  untilRedundant(): Promise<Breakable>;
  remove(): Promise<void>;
}

interface Options {
  /** How soon a primary that doesn't answer is replaced; as in the file unless told otherwise. */
  downAfterMs?: number;
  /** Sentinels as Debian has them: without a password. */
  openSentinels?: true;
}

export async function ownSentinels(options: Options = {}): Promise<OwnSentinels> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-sentinel-"));
  const net = ownNetwork();
  const started: Breakable[] = [];
  async function start(name: string, host: string, flags: string[] = []): Promise<Breakable> {
    const file = configFile({ folder, net, ...options }, name, host);
    const server = await runRedis([file, ...flags], join(file, ".."));
    started.push(server);
    return server;
  }
  async function remove(): Promise<void> {
    await Promise.all(started.map((server) => server.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    const redis = await Promise.all(SERVERS.map((host) => start("redis.conf", host)));
    const servers = new Map(redis.map((server, index) => [`${net}${SERVERS[index]}`, server]));
    // They learn of replicas when they start, and then every ten seconds.
    await until(async () => (await replicasOf(`${net}${SERVERS[0]}`)) > 0 || undefined);
    const sentinels = await Promise.all(SENTINELS.map((host) => start("sentinel.conf", host, ["--sentinel"])));
    const own = createSentinels(net, servers, sentinels);
    await own.untilRedundant();
    return { ...own, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function configFile(
  { folder, net, ...options }: Options & { folder: string; net: string },
  name: string,
  host: string,
) {
  const dir = redisFolder(folder, `${host}-${name}`);
  let text = readFileSync(join(CONFIGS, name), "utf8")
    .replaceAll(/(bind|announce-ip) 10\.0\.0\.21/g, `$1 ${net}${host}`)
    .replaceAll("10.0.0.", net)
    .replaceAll("/var/lib/redis", dir);
  if (host !== SERVERS[0]) text = text.replace("# replicaof", "replicaof");
  const { downAfterMs, openSentinels } = options;
  if (downAfterMs !== undefined) text = text.replace(/(down-after-milliseconds \w+) \d+/, `$1 ${downAfterMs}`);
  if (openSentinels && name === "sentinel.conf")
    text = text.replaceAll(/^(?:requirepass|sentinel sentinel-pass) .*$/gm, "");
  const file = join(dir, name);
  writeFileSync(file, text);
  accountFor("redis").own(file);
  return file;
}

function createSentinels(
  net: string,
  servers: ReadonlyMap<string, Breakable>,
  sentinels: Breakable[],
): Omit<OwnSentinels, "remove"> {
  const askAll = <Reply>(...words: string[]): Promise<Reply[]> =>
    Promise.all(SENTINELS.map((host) => ask<Reply>(net + host, 26379, words)));
  async function primary(): Promise<string | undefined> {
    const hosts = (await askAll<[string] | null>("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)).map(
      (found) => found?.[0],
    );
    const [host] = hosts;
    if (host === undefined || hosts.some((other) => other !== host)) return undefined;
    const [role] = await ask<[string]>(host, 6379, ["ROLE"]);
    return role === "master" ? host : undefined;
  }
  const found = (host: string): Breakable => servers.get(host) as Breakable;
  /** What can't be asked now can be asked later. */
  const patiently = <Result>(look: () => Promise<Result | undefined>) =>
    until(() => look().catch(() => undefined), 60_000);
  return {
    url: `redis-sentinel://:${PASSWORD}@${SENTINELS.map((host) => `${net}${host}:26379`).join(",")}/${NAME}`,
    sentinels,
    untilPrimary: (isOther = () => true) =>
      patiently(async () => {
        const host = await primary();
        return host !== undefined && isOther(found(host)) ? found(host) : undefined;
      }),
    untilRedundant: () =>
      patiently(async () => {
        // A sentinel that gets no CPU time for a while assumes that its clock is wrong, and pauses for 30 s (TILT).
        await askAll("SENTINEL", "DEBUG", "TILT-TRIGGER", "60000");
        await askAll("SENTINEL", "CKQUORUM", NAME);
        const host = await primary();
        if (host === undefined || (await replicasOf(host)) === 0) return undefined;
        const known = await askAll<Record<string, string>[]>("SENTINEL", "REPLICAS", NAME);
        return known.every(([replica]) => replica?.flags === "slave") ? found(host) : undefined;
      }),
  };
}

/** Replicas that have everything. */
async function replicasOf(host: string): Promise<number> {
  const info = await ask<string>(host, 6379, ["INFO", "replication"]);
  return info.split("state=online").length - 1;
}

async function ask<Reply>(host: string, port: number, words: string[]): Promise<Reply> {
  const client = createClient({ password: PASSWORD, socket: { host, port, reconnectStrategy: false } });
  client.on("error", () => {});
  // A server that a test has stopped accepts connections, but doesn't respond.
  const impatience = setTimeout(() => client.destroy(), PATIENCE_MS);
  try {
    await client.connect();
    return (await client.sendCommand(words)) as Reply;
  } finally {
    clearTimeout(impatience);
    if (client.isOpen) client.destroy();
  }
}
