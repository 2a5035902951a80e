import { join } from "node:path";
import type { OpenBackend } from "@formbridge/conformance";
import { type Backend, createAesSealer, type Instant } from "@formbridge/core";
import {
  type InFrontOptions,
  openRedis,
  parseRedisUrl,
  putRedisInFront,
  type Redis,
  type RedisAddress,
} from "@formbridge/store-redis";
import { openSqliteBackend } from "@formbridge/store-sqlite";
import { createClient } from "redis";
import { afterAll } from "vitest";
import { memoryFolder } from "../../../test/support/memory-folder.ts";
import { newPrefix } from "../../../test/support/services/redis.ts";
import { refuseWritesTo } from "../../store-sqlite/test/refuse-writes.ts";

export const sealer = createAesSealer(["a secret of at least 32 characters, for tests"]);

export function addressOf(url: string): RedisAddress {
  const address = parseRedisUrl(url);
  if (address === undefined) throw new Error(`not a Redis URL: ${url}`);
  return address;
}

/** A connection to the URL, with a prefix of its own. */
export const connect = (url: string, options: { prefix?: string; clock?: () => Instant; timeoutMs?: number } = {}) =>
  openRedis({ address: addressOf(url), prefix: newPrefix(), timeoutMs: 5_000, ...options });

type Choice = Pick<InFrontOptions, "tokens" | "idempotency"> & { lock?: InFrontOptions["lock"] };

export const inFrontOf = (truth: Backend, redis: Redis, choice: Choice): Backend =>
  putRedisInFront(truth, { redis, sealer, lock: { lifeMs: 10_000 }, ...choice });

/** Redis in front of an SQLite file, both used by this test only. */
export function openOn(url: string, choice: Choice): OpenBackend {
  let folder: ReturnType<typeof memoryFolder> | undefined;
  afterAll(() => folder?.remove());
  let opened = 0;
  return async (now) => {
    opened += 1;
    folder ??= memoryFolder();
    const file = join(folder.path, `${opened}.db`);
    const prefix = newPrefix();
    const again = async () => {
      const redis = await connect(url, { prefix, clock: now });
      const backend = inFrontOf(openSqliteBackend({ file, now }), redis, choice);
      return {
        ...backend,
        async close() {
          await backend.close();
          redis.close();
        },
      };
    };
    return { backend: await again(), reopen: again, refuseWrites: refuseWritesTo(file) };
  };
}

/** Runs a command as an operator would. */
export async function asOperator(url: string, ...words: string[]): Promise<unknown> {
  const client = createClient({ url });
  client.on("error", () => {});
  await client.connect();
  try {
    return await client.sendCommand(words);
  } finally {
    client.destroy();
  }
}

/** Polls until the result isn't undefined, for what a real server does in its own time. */
export async function eventually<Result>(ask: () => Promise<Result | undefined>, withinMs = 5_000): Promise<Result> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`nothing in ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
