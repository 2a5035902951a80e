import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type AuthNotes, createJwtAuthenticator } from "@formbridge/auth-jwt";
import {
  type AlarmWindows,
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
  sealIntakes,
  silent,
  type Tracing,
  type UploadStorage,
  untraced,
  type Wakeups,
} from "@formbridge/core";
import { createDiskArchive, createDiskStorage, createS3Storage, createScanner } from "@formbridge/files";
import { type CourierOptions, createCourier, createSmtpMailer } from "@formbridge/outbound";
import {
  createLocalWakeups,
  createMemoryAlarmWindows,
  createMemoryBackend,
  createMemoryRateLimiter,
} from "@formbridge/store-memory";
import {
  createRedisAlarmWindows,
  createRedisRateLimiter,
  createRedisWakeups,
  openRedis,
  putRedisInFront,
} from "@formbridge/store-redis";
import { openSqliteBackend } from "@formbridge/store-sqlite";
import { withLocalAgent, withPresetKey } from "./admin-key.ts";
import { type BreakerNotes, createBreaker } from "./breaker/breaker.ts";
import { guardBackend } from "./breaker/guard-backend.ts";
import { checkSecret, retireSecrets } from "./check-secret.ts";
import type { Backends } from "./config/backends.ts";
import type { Config, DatabaseChoice, RedisChoice } from "./config/config.ts";
import { ConfigError } from "./config/reader.ts";
import { secretsFor } from "./config/secret-file.ts";

/** The product without a transport, for the server, the commands and tests. */
export interface Core {
  backend: Backend;
  operations: Operations;
  wakeups: Wakeups;
  courier: Courier;
  sealer: Sealer;
  now(): number;
  /** The server's public URL. */
  publicUrl(): string;
  health(): Promise<Record<string, Health>>;
  /** Bytes that Redis uses, where it holds tokens. */
  redisMemory?: () => Promise<number>;
}

export interface ComposeOptions {
  /** The clock of stores without their own. */
  now?: () => number;
  instrumentation?: Instrumentation;
  tracing?: Tracing;
  /** Called with why tokens were refused and keys couldn't be fetched. */
  authNotes?: AuthNotes;
  /** Wraps the backend to time its calls. */
  observe?: (backend: Backend) => Backend;
  /** Wraps the courier to trace what it sends. */
  observeCourier?: (courier: Courier) => Courier;
  /** The server's URL once it is known, if the settings don't name one. */
  publicUrl?: () => string;
  /** Drops the checks of secrets that the configuration no longer has, instead of refusing to start without them. */
  retiresSecrets?: { losing: boolean };
  /** Sends mail instead of the configured mail server. */
  mailer?: Mailer;
  /** The functions for destinations of kind `callback`, by name. */
  callbacks?: CourierOptions["callbacks"];
  /** Delivers submissions instead of the configured couriers. */
  courier?: Courier;
  /** Looks up the country of an address, for the alarm about it. Must return at once. */
  countryOf?: (address: string) => string | undefined;
  /** An API key that is valid only in this process, for the agent that started it. */
  localAgentKey?: string;
}

const NOBODY: AuthNotes = { refused: () => {}, keysUnavailable: () => {} };

/** The URL that the server listens on. */
export const localUrl = ({ host, port }: Config): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Assembles the parts. The only place that knows all of them. */
export async function composeCore(config: Config, options: ComposeOptions = {}): Promise<Core> {
  const { now = Date.now, instrumentation = silent, tracing = untraced, authNotes = NOBODY, callbacks = {} } = options;
  const { courier: given = createCourier({ ...config.delivery, callbacks }), observeCourier } = options;
  const courier = observeCourier?.(given) ?? given;
  const { publicUrl = () => localUrl(config) } = options;
  const mailer = options.mailer ?? (config.mail && createSmtpMailer(config.mail));
  if (mailer === undefined && config.settings.alarmMail !== undefined)
    throw new ConfigError(
      "FORMBRIDGE_ALARM_MAIL is set, but mail can't be sent; it takes FORMBRIDGE_SMTP_URL as well.",
    );
  const secrets = secretsFor(config);
  const sealer = createAesSealer(secrets);
  const parts = { now, instrumentation, sealer };
  const { wakeups, rateLimiter, alarmWindows, health, redisMemory, ...opened } = await openStores(config, parts);
  const stores = options.observe?.(opened) ?? opened;
  const { retiresSecrets } = options;
  const checking =
    retiresSecrets === undefined
      ? checkSecret(stores.secretChecks, sealer)
      : retireSecrets(stores, sealer, retiresSecrets);
  await checking.catch(async (error: unknown) => {
    await stores.close();
    throw error;
  });
  const backend = {
    ...stores,
    intakes: sealIntakes(stores.intakes, sealer),
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
    alarmWindows,
    ...(options.countryOf && { countryOf: options.countryOf }),
    instrumentation,
    tracing,
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
  const core = { backend, operations, wakeups, courier, sealer, now, publicUrl: reachedAt, health };
  return { ...core, ...(redisMemory && { redisMemory }) };
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

function behindBreaker(backend: Backend, { record }: Instrumentation, name: string): Backend {
  const probe = (): Promise<Health> => backend.tokens.health();
  const notes: BreakerNotes = {
    opened: (_access, cause) => record({ name: "breaker", backend: name, state: "open", cause }),
    closed: () => record({ name: "breaker", backend: name, state: "closed" }),
    rejected: (access) => record({ name: "breaker_rejected", backend: name, access }),
  };
  return guardBackend(backend, createBreaker({ probe, notes }));
}

interface Stores extends Backend {
  wakeups: Wakeups;
  rateLimiter: RateLimiter;
  alarmWindows: AlarmWindows;
  health: Core["health"];
  redisMemory?: () => Promise<number>;
}

interface StoreParts {
  now: () => number;
  instrumentation: Instrumentation;
  sealer: Sealer;
}

async function openStores(config: Config, parts: StoreParts): Promise<Stores> {
  const { database, redis } = config;
  const backend = behindBreaker(await openDatabase(database, parts), parts.instrumentation, database.kind);
  const wakeups = createLocalWakeups();
  const rateLimiter = createMemoryRateLimiter(parts);
  const health = async () => {
    const [store, idempotency] = await Promise.all([backend.tokens.health(), backend.idempotency.health()]);
    return { store, idempotency };
  };
  const alarmWindows = backend.alarmWindows ?? createMemoryAlarmWindows();
  const alone: Stores = { ...backend, wakeups, rateLimiter, alarmWindows, health };
  if (redis !== undefined) return withRedis(alone, { redis, backends: config.backends, ...parts });
  if (database.kind !== "postgres") return alone;
  const { createPostgresWakeups } = await loadPostgres();
  return withNotices(alone, createPostgresWakeups(wakeups, database));
}

async function openDatabase(choice: DatabaseChoice, parts: StoreParts): Promise<Backend> {
  if (choice.kind === "memory") return createMemoryBackend(parts);
  if (choice.kind === "postgres") return openPostgres(choice, parts.instrumentation);
  mkdirSync(dirname(choice.file), { recursive: true, mode: 0o700 });
  const { now, instrumentation } = parts;
  return openSqliteBackend({ file: choice.file, now, instrumentation });
}

/** Loaded only if used: a start with SQLite is a tenth faster. */
const loadPostgres = () => import("@formbridge/store-postgres");

async function openPostgres(
  choice: DatabaseChoice & { kind: "postgres" },
  { record }: Instrumentation,
): Promise<Backend> {
  const { openPostgresBackend, refuseUnfinishedCopy } = await loadPostgres();
  const onExhausted = (): void => record({ name: "pool_exhausted", backend: "postgres" });
  const backend = await openPostgresBackend({ ...choice, onExhausted });
  await refuseUnfinishedCopy(choice).catch(async (error: unknown) => {
    await backend.close();
    throw error;
  });
  return backend;
}

/** Also notifies readers in other instances. */
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
  options: { redis: RedisChoice; backends: Backends; sealer: Sealer; instrumentation: Instrumentation },
): Promise<Stores> {
  const { instrumentation } = options;
  const { tokens, idempotency } = options.backends;
  const redis = await openRedis({ ...options.redis, instrumentation });
  const front = putRedisInFront(stores, {
    redis,
    sealer: options.sealer,
    tokens: tokens === "memory" ? "sql" : tokens,
    idempotency: idempotency === "memory" ? "sql" : idempotency,
    lock: { lifeMs: options.redis.lockMs },
    instrumentation,
  });
  const needed = tokens === "redis" || idempotency === "redis";
  return withNotices(
    {
      ...stores,
      ...front,
      rateLimiter: createRedisRateLimiter(redis, stores.rateLimiter),
      alarmWindows: createRedisAlarmWindows(redis, stores.alarmWindows),
      ...((tokens === "redis" || tokens === "hybrid") && { redisMemory: redis.memory }),
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
