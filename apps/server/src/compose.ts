import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { createDiskArchive } from "@formbridge/archive-disk";
import { type AuthNotes, createJwtAuthenticator } from "@formbridge/auth-jwt";
import { createDiskStorage } from "@formbridge/blob-disk";
import { createS3Storage } from "@formbridge/blob-s3";
import { type BreakerNotes, createBreaker, guardBackend } from "@formbridge/breaker";
import {
  type Authenticator,
  type Backend,
  type Courier,
  createAesSealer,
  createOperations,
  createPageTokens,
  createRandomness,
  createUploadGrants,
  createWebhookSecrets,
  DEFAULT_TENANT,
  type Health,
  type Instrumentation,
  type Mailer,
  type Operations,
  type RateLimiter,
  type Sealer,
  silent,
  type UploadStorage,
  type Wakeups,
} from "@formbridge/core";
import { type CourierOptions, createCourier } from "@formbridge/couriers";
import { createSmtpMailer } from "@formbridge/mail-smtp";
import { createScanner } from "@formbridge/scan-hook";
import { createLocalWakeups, createMemoryBackend, createMemoryRateLimiter } from "@formbridge/store-memory";
import { createRedisRateLimiter, createRedisWakeups, openRedis, putRedisInFront } from "@formbridge/store-redis";
import { openSqliteBackend } from "@formbridge/store-sqlite";
import { withLocalAgent, withPresetKey } from "./admin-key.ts";
import type { Backends } from "./config/backends.ts";
import type { Config, DatabaseChoice, RedisChoice } from "./config/config.ts";
import { secretsFor } from "./config/secret-file.ts";

/** The product without a transport: what the server, the commands and tests all build on. */
export interface Core {
  backend: Backend;
  operations: Operations;
  wakeups: Wakeups;
  courier: Courier;
  sealer: Sealer;
  now(): number;
  /** Where the server is reached. */
  publicUrl(): string;
  health(): Promise<Record<string, Health>>;
}

export interface ComposeOptions {
  /** The clock of stores that have none of their own. */
  now?: () => number;
  instrumentation?: Instrumentation;
  /** Hears why tokens were refused and keys not had; without it nobody does. */
  authNotes?: AuthNotes;
  /** Hears when a store goes down and comes back. */
  breakerNotes?: BreakerNotes;
  /** Where the server is reached, once that is known; the settings' word comes first. */
  publicUrl?: () => string;
  /** Brings mail to its readers, instead of the mail server that the settings name. */
  mailer?: Mailer;
  /** The functions that destinations of kind `callback` name. */
  callbacks?: CourierOptions["callbacks"];
  /** Takes submissions to their destinations, in place of the couriers that the settings describe. */
  courier?: Courier;
  /** A key, good in this process alone, for the agent that started it. */
  localAgentKey?: string;
}

const NOBODY: AuthNotes = { refused: () => {}, keysUnavailable: () => {} };

/** Where the server listens, as a URL. */
export const localUrl = ({ host, port }: Config): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Puts the parts together. This is the only place that knows which ones there are. */
export async function composeCore(config: Config, options: ComposeOptions = {}): Promise<Core> {
  const { now = Date.now, instrumentation = silent, authNotes = NOBODY, callbacks = {} } = options;
  const { courier = createCourier({ ...config.delivery, callbacks }) } = options;
  const { publicUrl = () => localUrl(config) } = options;
  const mailer = options.mailer ?? (config.mail && createSmtpMailer(config.mail));
  const secrets = secretsFor(config);
  const sealer = createAesSealer(secrets);
  const parts = { now, instrumentation, sealer, breakerNotes: options.breakerNotes };
  const { wakeups, rateLimiter, health, ...stores } = await openStores(config, parts);
  const backend = {
    ...stores,
    keys: withLocalAgent(withPresetKey(stores.keys, config.adminKey), options.localAgentKey),
  };
  const { scan } = config.uploads;
  const reachedAt = (): string => config.publicUrl ?? publicUrl();
  const authenticator = authenticatorOf(config, { now, notes: authNotes });
  const operations = createOperations({
    backend,
    sealer,
    pageTokens: createPageTokens(secrets, config.pageTokenTtlMs),
    random: createRandomness(),
    wakeups,
    rateLimiter,
    instrumentation,
    settings: config.settings,
    ...(authenticator && { authenticator }),
    publicUrl: reachedAt,
    courier,
    webhookSecrets: createWebhookSecrets(secrets),
    archive: createDiskArchive(config.archiveFolder),
    ...(mailer && { mailer }),
    uploadGrants: createUploadGrants(secrets),
    uploads: await storageOf(config),
    ...(scan && { scanner: createScanner(scan) }),
    ...(config.notifyUrl !== undefined && { notifyUrl: config.notifyUrl }),
  });
  return { backend, operations, wakeups, courier, sealer, now, publicUrl: reachedAt, health };
}

async function storageOf({ uploads: { storage, idleMs } }: Config): Promise<UploadStorage> {
  return storage.kind === "s3" ? await createS3Storage(storage) : createDiskStorage({ ...storage, idleMs });
}

function authenticatorOf(
  { jwt, settings }: Config,
  options: { now: () => number; notes: AuthNotes },
): Authenticator | undefined {
  if (jwt.issuers.length === 0) return undefined;
  const { clockSkewMs } = settings.policy;
  return createJwtAuthenticator(jwt.issuers, {
    ...options,
    clockSkewMs,
    keys: jwt.keys,
    reservedTenant: DEFAULT_TENANT,
  });
}

function behindBreaker(backend: Backend, notes: BreakerNotes | undefined): Backend {
  const probe = (): Promise<Health> => backend.tokens.health();
  return guardBackend(backend, createBreaker({ probe, ...(notes && { notes }) }));
}

interface Stores extends Backend {
  wakeups: Wakeups;
  rateLimiter: RateLimiter;
  health: Core["health"];
}

interface StoreParts {
  now: () => number;
  instrumentation: Instrumentation;
  sealer: Sealer;
  breakerNotes: BreakerNotes | undefined;
}

async function openStores(config: Config, parts: StoreParts): Promise<Stores> {
  const { database, redis } = config;
  const backend = behindBreaker(await openDatabase(database, parts), parts.breakerNotes);
  const wakeups = createLocalWakeups();
  const rateLimiter = createMemoryRateLimiter(parts);
  const health = async () => {
    const [store, idempotency] = await Promise.all([backend.tokens.health(), backend.idempotency.health()]);
    return { store, idempotency };
  };
  const alone: Stores = { ...backend, wakeups, rateLimiter, health };
  if (redis !== undefined) return withRedis(alone, { redis, backends: config.backends, sealer: parts.sealer });
  if (database.kind !== "postgres") return alone;
  const { createPostgresWakeups } = await loadPostgres();
  return withNotices(alone, createPostgresWakeups(wakeups, database));
}

async function openDatabase(choice: DatabaseChoice, parts: StoreParts): Promise<Backend> {
  if (choice.kind === "memory") return createMemoryBackend(parts);
  if (choice.kind === "postgres") return openPostgres(choice);
  mkdirSync(dirname(choice.file), { recursive: true, mode: 0o700 });
  const { now, instrumentation } = parts;
  return openSqliteBackend({ file: choice.file, now, instrumentation, writer: "thread" });
}

/** Loaded where it is used: a start on a file is a tenth faster. */
const loadPostgres = () => import("@formbridge/store-postgres");

async function openPostgres(choice: DatabaseChoice & { kind: "postgres" }): Promise<Backend> {
  const { openPostgresBackend, refuseUnfinishedCopy } = await loadPostgres();
  const backend = await openPostgresBackend(choice);
  await refuseUnfinishedCopy(choice).catch(async (error: unknown) => {
    await backend.close();
    throw error;
  });
  return backend;
}

/** Readers of other instances are woken too. */
function withNotices(stores: Stores, wakeups: Wakeups & { close(): Promise<void> }): Stores {
  return {
    ...stores,
    wakeups,
    close: async () => {
      await wakeups.close();
      await stores.close();
    },
  };
}

async function withRedis(
  stores: Stores,
  options: { redis: RedisChoice; backends: Backends; sealer: Sealer },
): Promise<Stores> {
  const { tokens, idempotency } = options.backends;
  const redis = await openRedis(options.redis);
  const front = putRedisInFront(stores, {
    redis,
    sealer: options.sealer,
    tokens: tokens === "memory" ? "sql" : tokens,
    idempotency: idempotency === "memory" ? "sql" : idempotency,
    lock: { lifeMs: options.redis.lockMs },
  });
  const needed = tokens === "redis" || idempotency === "redis";
  return withNotices(
    {
      ...stores,
      ...front,
      rateLimiter: createRedisRateLimiter(redis, stores.rateLimiter),
      health: async () => ({
        store: await stores.tokens.health(),
        idempotency: await front.idempotency.health(),
        redis: { ...(await redis.health()), ...(!needed && { optional: true }) },
      }),
      close: async () => {
        await front.close();
        redis.close();
      },
    },
    createRedisWakeups(stores.wakeups, redis),
  );
}
