import { type Health, type Instant, StoreDown } from "@formbridge/core";
import type { RedisAddress } from "./address.ts";
import { createBreaker } from "./breaker.ts";
import { type Commands, connectCluster, connectServer, loadDriver } from "./client.ts";
import { inTime } from "./in-time.ts";
import { createListener, type Listening } from "./listener.ts";
import type { Script } from "./script.ts";

export interface RedisOptions {
  address: RedisAddress;
  /** What the names of keys and channels begin with: several deployments may share one Redis. */
  prefix: string;
  /** For one call, the way there and back included. */
  timeoutMs: number;
  /** For tests; otherwise Redis tells the time. */
  clock?: () => Instant;
}

/** One Redis, or a cluster. Every call answers in time or throws `StoreDown`, which changed nothing that counts. */
export interface Redis {
  /** The name of a key. Keys with one `tag` live on one server of a cluster. */
  key(kind: string, tag: string): string;
  channel(name: string): string;
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: { lifeMs: number; onlyWhenAbsent?: boolean }): Promise<void>;
  remove(key: string): Promise<void>;
  /** What the script's first argument must be for it to tell the time. */
  now(): string;
  run(script: Script, keys: string[], args: (string | number)[]): Promise<unknown>;
  publish(channel: string, message: string): Promise<void>;
  listen(channel: string, listening: Listening): () => void;
  health(): Promise<Health>;
  close(): void;
}

/** Answers when the first connection stands, or after the time-out: it goes on trying, and calls fail until it succeeds. */
export async function openRedis({ address, prefix, timeoutMs, clock }: RedisOptions): Promise<Redis> {
  const driver = await loadDriver();
  const breaker = createBreaker();
  const connect = () => (address.cluster ? connectCluster : connectServer)(driver, address, breaker.succeeded);
  let client = connect();
  const listener = createListener(driver, address);
  let closed = false;

  async function guarded<Result>(work: (commands: Commands) => unknown): Promise<Result> {
    if (closed) throw down("Redis is closed");
    if (!breaker.admits()) throw down("Redis did not answer the calls before");
    try {
      const answer = await inTime(work(client.commands), timeoutMs);
      breaker.succeeded();
      return answer as Result;
    } catch (error) {
      // A connection to a server that vanished would wait for minutes before it notices that there is one again.
      if (breaker.failed() && !closed) renew();
      throw down("Redis can't be reached", error);
    }
  }

  function renew(): void {
    client.destroy();
    client = connect();
    client.connected.catch(() => {});
  }

  await inTime(client.connected, timeoutMs).catch(() => {});
  return {
    key: (kind, tag) => `${prefix}:${kind}:{${tag}}`,
    channel: (name) => `${prefix}:${name}`,
    get: async (key) => (await guarded<string | null>((redis) => redis.get(key))) ?? undefined,
    set: (key, value, { lifeMs, onlyWhenAbsent = false }) =>
      guarded((redis) =>
        redis.set(key, value, {
          expiration: { type: "PX", value: lifeMs },
          ...(onlyWhenAbsent && { condition: "NX" as const }),
        }),
      ),
    remove: (key) => guarded((redis) => redis.unlink(key)),
    now: () => (clock === undefined ? "" : String(clock())),
    run: (script, keys, args) =>
      guarded((redis) => evaluate(redis, script, { keys, arguments: args.map((arg) => String(arg)) })),
    publish: (channel, message) => guarded((redis) => redis.publish(channel, message)),
    listen: listener.listen,
    health: () =>
      healthOf(() => (closed ? Promise.reject(down("Redis is closed")) : inTime(client.times(), timeoutMs))),
    close() {
      closed = true;
      listener.close();
      client.destroy();
    },
  };
}

async function evaluate(commands: Commands, { text, sha }: Script, call: { keys: string[]; arguments: string[] }) {
  try {
    return await commands.evalSha(sha, call);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    return await commands.eval(text, call);
  }
}

/** A lock, a cache or a counter is not the write: without it nothing was committed. */
const down = (message: string, cause?: unknown): StoreDown => new StoreDown(message, "not_applied", cause);

async function healthOf(ask: () => Promise<[string, string][]>): Promise<Health> {
  const started = performance.now();
  const asked = Date.now();
  try {
    const times = await ask();
    const latencyMs = performance.now() - started;
    const skews = times.map(
      ([seconds, micros]) => Number(seconds) * 1000 + Number(micros) / 1000 - asked - latencyMs / 2,
    );
    const [farthest = 0] = skews.toSorted((one, other) => Math.abs(other) - Math.abs(one));
    return { healthy: true, latencyMs, clockSkewMs: Math.round(farthest) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { healthy: false, latencyMs: performance.now() - started, detail };
  }
}
