import { type Health, type Instant, type Instrumentation, StoreDown, silent } from "@formbridge/core";
import type { RedisAddress } from "./address.ts";
import { type BreakerNotes, createBreaker } from "./breaker.ts";
import { CONNECT, type Commands } from "./client.ts";
import { loadDriver } from "./connection.ts";
import { inTime } from "./in-time.ts";
import { createListener, type Listening } from "./listener.ts";
import type { Script } from "./script.ts";

export interface RedisOptions {
  address: RedisAddress;
  /** Prefix of all keys and channels, so that several deployments can share one Redis. */
  prefix: string;
  /** The limit for one call, round trip included. */
  timeoutMs: number;
  /** For tests; otherwise Redis's own clock is used. */
  clock?: () => Instant;
  /** Called when Redis stops responding and when it is back. */
  instrumentation?: Instrumentation;
}

/**
 * One Redis server, a cluster, or the primary that sentinels name. Every call returns in time or throws `StoreDown`; a call that failed has changed
 * nothing that matters.
 */
export interface Redis {
  /** The name of a key. Keys with the same `tag` are on the same server of a cluster. */
  key(kind: string, tag: string): string;
  channel(name: string): string;
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: { lifeMs: number; onlyWhenAbsent?: boolean }): Promise<void>;
  remove(key: string): Promise<void>;
  /** What to pass as the first argument of a script that needs the time. */
  now(): string;
  run(script: Script, keys: string[], args: (string | number)[]): Promise<unknown>;
  publish(channel: string, message: string): Promise<void>;
  listen(channel: string, listening: Listening): () => void;
  health(): Promise<Health>;
  /** Memory used, in bytes, summed over all servers of a cluster. */
  memory(): Promise<number>;
  close(): void;
}

/**
 * Resolves when the first connection is up, or after the timeout; then it keeps trying, and calls fail until it
 * succeeds.
 */
export async function openRedis({ address, prefix, timeoutMs, clock, ...options }: RedisOptions): Promise<Redis> {
  const driver = await loadDriver();
  const breaker = createBreaker(undefined, breakerNotes(options.instrumentation ?? silent));
  const connect = () => CONNECT[address.kind](driver, address, breaker.succeeded);
  let client = connect();
  const listener = createListener(driver, address);
  let closed = false;

  async function guarded<Result>(work: (commands: Commands) => unknown): Promise<Result> {
    if (closed) throw down("Redis is closed");
    if (!breaker.admits()) throw down("Redis did not respond to the previous calls");
    try {
      const answer = await inTime(work(client.commands), timeoutMs);
      breaker.succeeded();
      return answer as Result;
    } catch (error) {
      // An old connection to a server that vanished may take minutes to notice that the server is back.
      if (breaker.failed(error) && !closed) renew();
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
    memory: () => inTime(client.memory(), timeoutMs),
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

const breakerNotes = ({ record }: Instrumentation): BreakerNotes => ({
  state: (state, cause) => record({ name: "breaker", backend: "redis", state, ...(cause !== undefined && { cause }) }),
  // The breaker doesn't distinguish reads from writes.
  rejected: () => record({ name: "breaker_rejected", backend: "redis", access: "read" }),
});

/** A lock, a cache or a counter isn't the write itself: nothing was committed without it. */
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
