import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_KEY, putIntake } from "../faults/ledger-check.ts";
import { type Seen, underLoad } from "../faults/under-load.ts";
import { caller, type Loose, minimalIntake, type Reply } from "../support/harness.ts";
import { create, created, eventsOf, idempotencyKey, setFields, until } from "../support/moves.ts";
import { createDatabase, type TestDatabase } from "../support/services/postgres.ts";
import { type OwnRedis, ownRedis } from "../support/services/redis.ts";
import { shiftedClock } from "../support/shifted-clock.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { ALIVE, HOUR, HOURLY_INTAKES, lookAtHourlyThings, makeHourlyThings, OVER, serverAt } from "./one-clock.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const ROUNDS = isLong ? 20 : 1;
const STOPS = isLong ? 20 : 2;
const CLIENTS = 12;
const TIMEOUT = isLong ? 1_800_000 : 120_000;
const LOCK_MS = 300;
/** Longer than a call takes, and shorter than an instance is paused. */
const CALL_MS = 1_500;

/** Redis is used for everything possible: without it, calls with a token or a key are refused. */
const STRICT = { FORMBRIDGE_TOKEN_BACKEND: "redis", FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis" };
/** Redis is optional. */
const HELPED = { FORMBRIDGE_TOKEN_BACKEND: "hybrid", FORMBRIDGE_IDEMPOTENCY_BACKEND: "sql" };

let database: TestDatabase;
let redis: OwnRedis;
let fleet: Fleet;
let server: { adminKey: string; call: ReturnType<typeof caller> };

beforeAll(async () => {
  database = await createDatabase();
  redis = await ownRedis();
  fleet = await startFleet({
    adminKey: ADMIN_KEY,
    databaseUrl: database.url,
    settings: {
      FORMBRIDGE_REDIS_URL: redis.url,
      FORMBRIDGE_REDIS_LOCK_MS: String(LOCK_MS),
      // A killed Redis is noticed at once; a slow one on a busy machine is no fault.
      FORMBRIDGE_REDIS_TIMEOUT_MS: "10000",
      FORMBRIDGE_CLOCK_SKEW_MS: "0",
      // No other writes while a test holds a table.
      FORMBRIDGE_AUDIT_FLUSH_MS: "3600000",
      ...STRICT,
    },
    // Anything that fails here fails with clocks that are hours apart.
    each: [shiftedClock("+1h"), shiftedClock("-1h")],
  });
  server = { adminKey: ADMIN_KEY, call: caller(fleet.url) };
  await putIntake(fleet.url);
  for (const body of [minimalIntake("forms"), ...HOURLY_INTAKES]) {
    expect((await server.call("PUT", `/intakes/${body.id}`, { key: ADMIN_KEY, body })).status).toBe(201);
  }
}, TIMEOUT);
afterAll(async () => {
  await fleet?.stop();
  await redis?.remove();
  await database?.drop();
});

async function askRedis(...words: string[]): Promise<Loose> {
  const client = createClient({ url: redis.url });
  client.on("error", () => {});
  await client.connect();
  try {
    return await client.sendCommand(words);
  } finally {
    client.destroy();
  }
}

/** The locks that are held, with their owners. */
async function locks(): Promise<Map<string, string>> {
  const names: string[] = await askRedis("KEYS", "*:lock:*");
  const owners: (string | null)[] = names.length === 0 ? [] : await askRedis("MGET", ...names);
  return new Map(names.flatMap((name, index) => (owners[index] ? [[name, owners[index]]] : [])));
}

const signal = (index: number, name: "SIGSTOP" | "SIGCONT"): boolean =>
  process.kill(fleet.instances[index]?.pid ?? 0, name);
const instance = (index: number) => serverAt(fleet.instances[index]?.url ?? "");

/** One instance is paused between its read from the database and its commit; meanwhile `other` runs. */
async function overtake(table: string, one: () => Promise<Reply>, other: () => Promise<Reply>): Promise<Reply[]> {
  const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = $1::regclass";
  await database.query("BEGIN");
  try {
    await database.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    const late = one();
    await until(async () => (await database.query(waiting, [table])).length > 0 || undefined);
    signal(0, "SIGSTOP");
    // The result of its read is ready, and waits in its socket.
    await database.query("ROLLBACK");
    const done = await other();
    signal(0, "SIGCONT");
    return [await late, done];
  } finally {
    signal(0, "SIGCONT");
    await database.query("ROLLBACK");
  }
}

describe("an instance that is paused for longer than its lock lives, and resumes", () => {
  test("[STORES-INSTANCES-PAUSED] [RUNNING-REDIS-LOST-LOCK] finds its create executed by another one, and returns that", {
    timeout: TIMEOUT,
  }, async () => {
    for (let round = 0; round < STOPS; round++) {
      const headers = { "idempotency-key": idempotencyKey(`overtaken-${round}`) };
      const make = (index: number) => () => create(instance(index), "forms", { headers });
      const [late, done] = await overtake("formbridge.records", make(0), make(2));
      expect([done?.status, done?.body._idempotent]).toEqual([201, false]);
      expect([late?.status, late?.body._idempotent]).toEqual([200, true]);
      expect(late?.body.submissionId).toBe(done?.body.submissionId);
    }
    const [made] = await database.query("SELECT count(*)::int FROM formbridge.submissions WHERE intake_id = 'forms'");
    expect(made).toEqual({ count: STOPS });
  });

  test("[STORES-INSTANCES-PAUSED] does not overwrite what was written meanwhile", { timeout: TIMEOUT }, async () => {
    for (let round = 0; round < STOPS; round++) {
      const { resumeToken, submissionId } = await created(server, "forms");
      const write = (index: number) => () => setFields(instance(index), resumeToken, { note: `instance ${index}` });
      const [late, done] = await overtake("formbridge.submissions", write(0), write(1));
      expect([done?.status, late?.status]).toEqual([200, 409]);
      expect(late?.body).toMatchObject({ version: 2, error: { type: "token_conflict" } });
      const { body } = await instance(2).call("GET", `/submissions/${submissionId}`, { key: ADMIN_KEY });
      expect([body.version, body.fields]).toEqual([2, { note: "instance 1" }]);
      const events = await eventsOf(server, submissionId, "types=field.updated");
      expect(events).toHaveLength(1);
    }
  });

  test("[STORES-INSTANCES-PAUSED] under load: nothing acknowledged is lost, nothing is duplicated", {
    timeout: TIMEOUT,
  }, async () => {
    const loading = { url: fleet.url, name: "paused", clients: CLIENTS, mayLose: true, timeoutMs: CALL_MS } as const;
    let held = 0;
    // A paused instance has executed or dropped what it had accepted when it has stopped gracefully.
    await underLoad({ ...loading, settle: () => fleet.restartAll() }, async ({ more, load }) => {
      for (let stop = 0; stop < STOPS; stop++) {
        await more(50);
        signal(stop % 3, "SIGSTOP");
        try {
          const before = await locks();
          const lost = load.lost;
          const isOver = ([name, owner]: [string, string], now: Map<string, string>) => now.get(name) !== owner;
          await until(async () => {
            const now = await locks();
            return (load.lost > lost && [...before].every((lock) => isOver(lock, now))) || undefined;
          });
          held += before.size;
          await more(20);
        } finally {
          signal(stop % 3, "SIGCONT");
        }
      }
    });
    process.stdout.write(`  ${STOPS} stops, ${held} locks held at those moments\n`);
  });
});

const many = <Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

async function killed({ more, refused }: Seen): Promise<void> {
  await redis.kill();
  const isRefused = fleet.env.FORMBRIDGE_TOKEN_BACKEND === "redis";
  await (isRefused ? refused(50) : more(100));
  await redis.restart();
}

/** Also with callers that share one key. */
async function flushed({ more }: Seen): Promise<void> {
  for (let flush = 0; flush < 5; flush++) {
    const headers = { "idempotency-key": idempotencyKey(crypto.randomUUID()) };
    const answers = many(16, () => create(server, "forms", { headers }));
    await askRedis("FLUSHALL");
    await more(20);
    await askRedis("FLUSHALL");
    const replies = await answers;
    const done = replies.filter(({ status }) => status < 300);
    expect(new Set(done.map(({ body }) => body.submissionId)).size).toBe(1);
    expect(done.filter(({ body }) => body._idempotent === false).length).toBeLessThanOrEqual(1);
    for (const { status } of replies) expect([200, 201, 503]).toContain(status);
  }
}

async function evicting({ more }: Seen): Promise<void> {
  const numberIn = async (section: string, name: string): Promise<number> =>
    Number(new RegExp(`${name}:(\\d+)`).exec(await askRedis("INFO", section))?.[1]);
  await askRedis("FLUSHALL");
  const evicted = await numberIn("stats", "evicted_keys");
  // Room for what it needs itself and a few entries.
  await askRedis("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
  await askRedis("CONFIG", "SET", "maxmemory", String((await numberIn("memory", "used_memory")) + 100_000));
  try {
    while ((await numberIn("stats", "evicted_keys")) < evicted + 100) await more(50);
  } finally {
    await askRedis("CONFIG", "SET", "maxmemory", "0");
  }
}

describe.each([
  ["tokens and keys are asked for in Redis", "strict", STRICT],
  ["Redis only helps to find tokens", "helped", HELPED],
])("%s, and under load it is", (_, mode, settings) => {
  beforeAll(async () => {
    if (fleet.env.FORMBRIDGE_TOKEN_BACKEND !== settings.FORMBRIDGE_TOKEN_BACKEND) await fleet.restartAll(settings);
  }, TIMEOUT);

  test.each([
    ["killed", killed],
    ["flushed", flushed],
    ["full, and evicts what it likes", evicting],
  ])(
    "[RUNNING-REDIS-NOT-TRUTH] %s: nothing acknowledged is lost, nothing is duplicated",
    { timeout: TIMEOUT },
    async (what, fault) => {
      for (let round = 0; round < ROUNDS; round++) {
        const name = `${mode}-${what.split(",")[0]}${round}`;
        await underLoad({ url: fleet.url, name, clients: CLIENTS }, fault);
      }
    },
  );
});

test("[STORES-INSTANCES-ONE-CLOCK] [STORES-READYZ] the database's clock decides every expiry, whatever the instances' clocks say", async () => {
  const skews = await many(
    3,
    async (index) => (await instance(index).call("GET", "/readyz")).body.stores.store.clockSkewMs,
  );
  for (const [index, expected] of [-HOUR, HOUR, 0].entries()) {
    expect(Math.abs(skews[index] - expected), `instance ${index}`).toBeLessThan(5_000);
  }
  const tell = await database.fakeClock();
  const start = Date.now();
  tell(start);
  const ends = new Date(start + HOUR).toISOString();
  const things = await many(3, (index) => makeHourlyThings(instance(index), `made by ${index}`, ends));
  const looks = () =>
    Promise.all(things.flatMap((each) => [0, 1, 2].map((index) => lookAtHourlyThings(instance(index), each))));
  tell(start + HOUR - 1);
  expect(await looks()).toEqual(Array(9).fill(ALIVE));
  tell(start + HOUR);
  expect(await looks()).toEqual(Array(9).fill(OVER));
});
