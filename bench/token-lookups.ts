import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Backend, createAesSealer } from "@formbridge/core";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { openRedis, parseRedisUrl, putRedisInFront, type Redis, type TokenMode } from "@formbridge/store-redis";
import { launchRedis } from "../test/support/services/start-redis.ts";
import type { Client } from "./client-process.ts";
import { startBenchPostgres } from "./cluster.ts";
import { tokenOfCopy } from "./fill.ts";
import { TOKENS_EACH } from "./growth.ts";
import { fillWithCopies } from "./postgres-fill.ts";
import { median } from "./stats.ts";
import { writeTemplate } from "./template.ts";

const COPIES = 20_000;
const LANES = 16;
/** Lookups per round, each of a different token. */
const LOOKUPS = 1_600;
const ROUNDS = 5;

const MODES = ["sql", "redis", "hybrid"] as const;
/** `find` looks up only the token; `load` also the submission it opens, as every request does. */
const ASKED = ["find", "load"] as const;
/** Cold: the token isn't in Redis. Hot: it was looked up before. */
const WARMTHS = ["cold", "hot"] as const;

export interface Lookup {
  mode: (typeof MODES)[number];
  asked: (typeof ASKED)[number];
  warmth: (typeof WARMTHS)[number];
  /** Medians of the rounds. */
  opsPerSecond: number;
  /** With a single caller: the time for one lookup. */
  aloneMicros: number;
  ownCpuMicros: number;
  databaseCpuMicros: number;
}

const hashOfCopy = (number: number): string => createHash("sha256").update(tokenOfCopy(number)).digest("hex");

interface Setting {
  backend: Backend;
  databaseCpuSeconds(): number;
  /** Clears Redis. */
  forget(): Promise<void>;
}

async function lookUp({ backend }: Setting, asked: Lookup["asked"], hash: string): Promise<void> {
  const found =
    asked === "find" ? await backend.tokens.find(hash) : (await backend.store.load({ by: { token: hash } })).presented;
  if (found?.hash !== hash) throw new Error("a token was not found");
}

interface Walk {
  asked: Lookup["asked"];
  tokens: readonly string[];
  /** Concurrent callers. */
  lanes: number;
}

/** Looks up every token once, and returns the time per lookup. */
async function walk(setting: Setting, { asked, tokens, lanes }: Walk) {
  const own = process.cpuUsage();
  const database = setting.databaseCpuSeconds();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let at = lane; at < tokens.length; at += lanes) await lookUp(setting, asked, tokens[at] ?? "");
    }),
  );
  const { user, system } = process.cpuUsage(own);
  return {
    micros: ((performance.now() - started) * 1000) / tokens.length,
    own: (user + system) / tokens.length,
    database: ((setting.databaseCpuSeconds() - database) * 1e6) / tokens.length,
  };
}

async function measureOne(setting: Setting, mode: Lookup["mode"], asked: Lookup["asked"]): Promise<Lookup[]> {
  const rounds = { cold: [], hot: [] } as Record<Lookup["warmth"], Awaited<ReturnType<typeof walk>>[]>;
  const alone = { cold: [], hot: [] } as Record<Lookup["warmth"], number[]>;
  for (let round = 0; round <= ROUNDS; round++) {
    const first = 2 + ((round * LOOKUPS) % (COPIES - LOOKUPS));
    const tokens = Array.from({ length: LOOKUPS }, (_, index) => hashOfCopy(first + index));
    await setting.forget();
    for (const warmth of WARMTHS) {
      const together = await walk(setting, { asked, tokens, lanes: LANES });
      if (warmth === "cold") await setting.forget();
      const { micros } = await walk(setting, { asked, tokens: tokens.slice(0, LOOKUPS / 10), lanes: 1 });
      if (warmth === "cold") await walk(setting, { asked, tokens, lanes: LANES });
      // The first round is a warm-up.
      if (round === 0) continue;
      rounds[warmth].push(together);
      alone[warmth].push(micros);
    }
  }
  return WARMTHS.map((warmth) => ({
    mode,
    asked,
    warmth,
    opsPerSecond: 1e6 / median(rounds[warmth].map(({ micros }) => micros)),
    aloneMicros: median(alone[warmth]),
    ownCpuMicros: median(rounds[warmth].map(({ own }) => own)),
    databaseCpuMicros: median(rounds[warmth].map(({ database }) => database)),
  }));
}

async function startRedis(folder: string): Promise<{ open(): Promise<Redis>; kill(): Promise<void> }> {
  const password = randomBytes(16).toString("hex");
  const server = await launchRedis({ folder, password });
  const address = parseRedisUrl(`redis://:${password}@127.0.0.1:${server.port}`);
  if (address === undefined) throw new Error("not a Redis URL");
  return {
    // A new prefix has no keys, which amounts to clearing Redis.
    open: () => openRedis({ address, prefix: randomBytes(6).toString("hex"), timeoutMs: 5_000 }),
    kill: server.kill,
  };
}

/** Token lookups in PostgreSQL alone and with Redis in front of it, at the store's ports. */
export async function measureTokenLookups(client: Client, folder: string): Promise<Lookup[]> {
  const postgres = await startBenchPostgres();
  const redisFolder = mkdtempSync(join(tmpdir(), "formbridge-bench-redis-"));
  const redis = await startRedis(redisFolder);
  const databaseUrl = await postgres.createDatabase("ours");
  await writeTemplate(client, { folder: join(folder, "lookups"), databaseUrl, writes: TOKENS_EACH });
  await fillWithCopies(postgres, { databaseUrl, copies: COPIES });
  const limits = { connectTimeoutMs: 5_000, statementTimeoutMs: 5_000, lockTimeoutMs: 5_000 };
  const truth = await openPostgresBackend({ url: databaseUrl, poolSize: 10, ...limits });
  const sealer = createAesSealer(["a secret of at least 32 characters, for the bench"]);
  let connection = await redis.open();
  const setting: Setting = {
    backend: truth,
    databaseCpuSeconds: postgres.cpuSeconds,
    async forget() {},
  };
  const inFront = (mode: TokenMode): Setting => {
    const put = (): Backend =>
      putRedisInFront(truth, { redis: connection, sealer, tokens: mode, idempotency: "sql", lock: { lifeMs: 10_000 } });
    const own = { ...setting, backend: put() };
    own.forget = async () => {
      connection.close();
      connection = await redis.open();
      own.backend = put();
    };
    return own;
  };
  try {
    const measured: Lookup[] = [];
    for (const asked of ASKED) {
      for (const mode of MODES) {
        measured.push(...(await measureOne(mode === "sql" ? setting : inFront(mode), mode, asked)));
      }
    }
    return measured;
  } finally {
    connection.close();
    await truth.close();
    await redis.kill();
    await postgres.stop();
    rmSync(redisFolder, { recursive: true, force: true });
  }
}
