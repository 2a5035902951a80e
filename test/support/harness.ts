import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DestinationInput, EVENT_STREAMS, type IntakeDefinition, type Role } from "@formbridge/contract";
import type { Courier, EventLog, Mailer } from "@formbridge/core";
import { type Config, type RunningServer, readConfig, type ServeOptions, serve } from "@formbridge/server";
import { request } from "undici";
import { payloadProblems } from "../../packages/core/test/payload-problems.ts";
import { createMigratedDatabase, type TestDatabase } from "./services/postgres.ts";
import { newPrefix, redisUrl } from "./services/redis.ts";

/** A clock that only moves when told to. */
export interface TestClock {
  now(): number;
  advance(ms: number): void;
}

export interface CallOptions {
  body?: unknown;
  /** Sent unchanged, as application/json unless headers say otherwise. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
  key?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests, which assert what they find
export type Loose = any;

export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** Parsed if the response is JSON, otherwise the text. */
  body: Loose;
}

export interface TestServer {
  url: string;
  /** The server's data folder. */
  folder: string;
  /** Everything it stores: its files, and the contents of its database. */
  atRest(): Promise<string>;
  clock: TestClock;
  server: RunningServer;
  adminKey: string;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  makeKey(options: KeyOptions): Promise<string>;
  putIntake(definition: IntakeInput, key?: string): Promise<Reply>;
  stop(): Promise<void>;
}

/** A definition as a caller sends it, with any destination. */
type IntakeInput = Partial<Omit<IntakeDefinition, "destination">> & { id: string; destination?: DestinationInput };

export interface KeyOptions {
  roles: Role[];
  actor: { kind: "agent" | "human"; id: string; name?: string; metadata?: Record<string, unknown> };
  intakes?: string[];
  actsFor?: string[];
  tenant?: string;
}

export interface ServerOptions {
  /** `sqlite` (a real file, the default), `memory`, or `postgres` (a database of its own on the run's server). */
  store?: "sqlite" | "memory" | "postgres";
  env?: Record<string, string>;
  /** Control the clock by hand; by default the server uses the real one. */
  fakeClock?: boolean;
  mailer?: Mailer;
  /** Delivers submissions; with one, the server runs jobs. */
  courier?: Courier;
  /** An MCP server class with more than the product has. */
  agentServerClass?: ServeOptions["agentServerClass"];
}

const ADMIN_KEY = `fbk_${"a".repeat(43)}`;
const START = Date.parse("2026-03-01T12:00:00.000Z");

function createClock(tell: (now: number) => void): TestClock {
  let at = START;
  tell(at);
  return {
    now: () => at,
    advance(ms) {
      at += ms;
      tell(at);
    },
  };
}

interface TestStore {
  env: Record<string, string>;
  /** Sets the clock of a store that has its own. */
  tell(now: number): void;
  /** All rows, if they aren't in the data folder. */
  rows(): Promise<string>;
  remove(): Promise<void>;
}

const DEFAULT_STORE = (process.env.FORMBRIDGE_TEST_STORE ?? "sqlite") as NonNullable<ServerOptions["store"]>;

async function createStore({ store = DEFAULT_STORE, fakeClock = true }: ServerOptions): Promise<TestStore> {
  const plain = { tell: () => {}, rows: async () => "", remove: async () => {} };
  if (store === "sqlite") return { env: {}, ...plain };
  if (store === "memory") return { env: { FORMBRIDGE_DATABASE_URL: "memory:" }, ...plain };
  const database = await createMigratedDatabase();
  return {
    env: { FORMBRIDGE_DATABASE_URL: database.url, FORMBRIDGE_SECRET: "a secret of every test instance" },
    tell: fakeClock ? await database.fakeClock() : plain.tell,
    rows: () => everyRow(database),
    remove: database.drop,
  };
}

async function everyRow({ query }: TestDatabase): Promise<string> {
  const tables = await query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'formbridge' ORDER BY tablename",
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const [all] = await query<{ text: string | null }>(
      `SELECT string_agg(row::text, E'\\n') AS text FROM formbridge.${name} AS row`,
    );
    texts.push(name, all?.text ?? "");
  }
  return texts.join("\n");
}

function everyFile(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")).join("\n");
}

/** `FORMBRIDGE_TEST_REDIS=redis` or `hybrid` puts the run's Redis in front of every store except memory. */
async function redisEnv({ store = DEFAULT_STORE }: ServerOptions): Promise<Record<string, string>> {
  const tokens = process.env.FORMBRIDGE_TEST_REDIS;
  if (tokens === undefined || store === "memory") return {};
  return {
    FORMBRIDGE_REDIS_URL: await redisUrl(),
    FORMBRIDGE_REDIS_PREFIX: newPrefix(),
    FORMBRIDGE_REDIS_TIMEOUT_MS: "10000",
    FORMBRIDGE_TOKEN_BACKEND: tokens,
    FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis",
  };
}

/** A whole server on a free loopback port, with its own store. */
export async function startTestServer(options: ServerOptions = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-test-"));
  const store = await createStore(options);
  const config: Config = readConfig({
    FORMBRIDGE_PORT: "0",
    FORMBRIDGE_DATA: folder,
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_RATE_LIMIT: "off",
    FORMBRIDGE_LOG_LEVEL: "silent",
    FORMBRIDGE_ALLOW_TEST_HEADERS: "1",
    FORMBRIDGE_WORKER: options.courier === undefined ? "off" : "on",
    // Without a courier nothing is delivered, so don't wait for it.
    ...(options.courier === undefined && { FORMBRIDGE_DELIVERY_WAIT_MS: "0" }),
    ...store.env,
    ...(await redisEnv(options)),
    ...options.env,
  });
  const clock = createClock(store.tell);
  const server = await serve(config, {
    ...(options.fakeClock !== false && { now: clock.now }),
    ...(options.mailer && { mailer: options.mailer }),
    ...(options.courier && { courier: options.courier }),
    ...(options.agentServerClass && { agentServerClass: options.agentServerClass }),
  });
  const call = caller(server.url);
  return {
    url: server.url,
    folder,
    atRest: async () => everyFile(config.dataFolder) + (await store.rows()),
    clock,
    server,
    adminKey: ADMIN_KEY,
    call,
    async makeKey({ roles, actor, ...rest }) {
      const body = { name: actor.id, roles, actor, ...rest };
      const reply = await call("POST", "/keys", { key: ADMIN_KEY, body });
      if (reply.status !== 201) throw new Error(`no key: ${JSON.stringify(reply.body)}`);
      return reply.body.key as string;
    },
    putIntake: ({ id, ...definition }, key = ADMIN_KEY) =>
      call("PUT", `/intakes/${id}`, { key, body: { ...minimalIntake(id), ...definition } }),
    async stop() {
      const problems = await eventProblems(server.core.backend.events);
      await server.stop();
      await store.remove();
      rmSync(folder, { recursive: true, force: true });
      if (problems.length > 0) throw new Error(`events break the contract: ${problems.slice(0, 5).join("; ")}`);
    },
  };
}

/** Checks the events that a test has left: every payload must match the contract. */
async function eventProblems(log: EventLog): Promise<string[]> {
  const where = { tenant: "default", streams: EVENT_STREAMS };
  // A test may have taken the store down.
  const page = await log.feed(where, { after: 0, limit: 1_000 }).catch(() => undefined);
  return (page?.events ?? []).flatMap(({ event }) =>
    event.payload === null ? [] : payloadProblems(event.type, event.payload),
  );
}

/** A public intake with two fields, one of them required, and destination `store`. */
export const minimalIntake = (id: string): IntakeDefinition => ({
  id,
  version: "1",
  name: id,
  access: "public",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, note: { type: "string" } },
    required: ["name"],
  },
  destination: { kind: "store" },
});

/** Not `fetch`, which takes twice as long: the tests make tens of thousands of calls. */
export function caller(url: string): TestServer["call"] {
  return async (method, path, { body, raw, headers = {}, key } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await request(url + path, {
      method,
      headers: {
        ...(payload !== undefined && { "content-type": "application/json" }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await answer.body.text();
    const told = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(", ")]);
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(told),
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
  };
}
