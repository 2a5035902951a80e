import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type AuthNotes, createJwtAuthenticator } from "@formbridge/auth-jwt";
import { type BreakerNotes, createBreaker, guardBackend } from "@formbridge/breaker";
import {
  type Authenticator,
  type Backend,
  createAesSealer,
  createOperations,
  createPageTokens,
  createRandomness,
  DEFAULT_TENANT,
  type Health,
  type Instrumentation,
  type Mailer,
  type Operations,
  silent,
  type Wakeups,
} from "@formbridge/core";
import { createLocalWakeups, createMemoryBackend, createMemoryRateLimiter } from "@formbridge/store-memory";
import { createPostgresWakeups, openPostgresBackend, refuseUnfinishedCopy } from "@formbridge/store-postgres";
import { openSqliteBackend } from "@formbridge/store-sqlite";
import { withPresetKey } from "./admin-key.ts";
import type { Config, DatabaseChoice } from "./config/config.ts";
import { secretsFor } from "./config/secret-file.ts";

/** The product without a transport: what the server, the commands and tests all build on. */
export interface Core {
  backend: Backend;
  operations: Operations;
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
  /** Brings codes to their readers; without one, magic links are refused. */
  mailer?: Mailer;
}

const NOBODY: AuthNotes = { refused: () => {}, keysUnavailable: () => {} };

/** Where the server listens, as a URL. */
export const localUrl = ({ host, port }: Config): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Puts the parts together. This is the only place that knows which ones there are. */
export async function composeCore(config: Config, options: ComposeOptions = {}): Promise<Core> {
  const { now = Date.now, instrumentation = silent, authNotes = NOBODY, mailer } = options;
  const { publicUrl = () => localUrl(config) } = options;
  const { wakeups, ...opened } = await openStores(config.database, { now, instrumentation });
  const stores = behindBreaker(opened, options.breakerNotes);
  const backend = { ...stores, keys: withPresetKey(stores.keys, config.adminKey) };
  const secrets = secretsFor(config);
  const authenticator = authenticatorOf(config, { now, notes: authNotes });
  const operations = createOperations({
    backend,
    sealer: createAesSealer(secrets),
    pageTokens: createPageTokens(secrets, config.pageTokenTtlMs),
    random: createRandomness(),
    wakeups,
    rateLimiter: createMemoryRateLimiter({ now }),
    instrumentation,
    settings: config.settings,
    ...(authenticator && { authenticator }),
    publicUrl: () => config.publicUrl ?? publicUrl(),
    ...(mailer && { mailer }),
  });
  return {
    backend,
    operations,
    async health() {
      const [store, idempotency] = await Promise.all([backend.tokens.health(), backend.idempotency.health()]);
      return { store, idempotency };
    },
  };
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

function behindBreaker(backend: Backend, notes?: BreakerNotes): Backend {
  const probe = (): Promise<Health> => backend.tokens.health();
  return guardBackend(backend, createBreaker({ probe, ...(notes && { notes }) }));
}

type Stores = Backend & { wakeups: Wakeups };

async function openStores(
  choice: DatabaseChoice,
  options: { now: () => number; instrumentation: Instrumentation },
): Promise<Stores> {
  const wakeups = createLocalWakeups();
  if (choice.kind === "memory") return { ...createMemoryBackend(options), wakeups };
  if (choice.kind === "postgres") return openPostgres(choice, wakeups);
  mkdirSync(dirname(choice.file), { recursive: true, mode: 0o700 });
  return { ...openSqliteBackend({ file: choice.file, ...options }), wakeups };
}

async function openPostgres(choice: DatabaseChoice & { kind: "postgres" }, local: Wakeups): Promise<Stores> {
  const backend = await openPostgresBackend(choice);
  await refuseUnfinishedCopy(choice).catch(async (error: unknown) => {
    await backend.close();
    throw error;
  });
  const wakeups = createPostgresWakeups(local, choice);
  return {
    ...backend,
    wakeups,
    close: async () => {
      await wakeups.close();
      await backend.close();
    },
  };
}
