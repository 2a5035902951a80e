import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import {
  type Backend,
  createAesSealer,
  createOperations,
  createPageTokens,
  createRandomness,
  type Health,
  type Instrumentation,
  type Operations,
  silent,
  type Wakeups,
} from "@formbridge/core";
import { createLocalWakeups, createMemoryBackend, createMemoryRateLimiter } from "@formbridge/store-memory";
import { createPostgresWakeups, openPostgresBackend } from "@formbridge/store-postgres";
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
}

/** Puts the parts together. This is the only place that knows which ones there are. */
export async function composeCore(config: Config, options: ComposeOptions = {}): Promise<Core> {
  const { now = Date.now, instrumentation = silent } = options;
  const { wakeups, ...stores } = await openStores(config.database, { now, instrumentation });
  const backend = { ...stores, keys: withPresetKey(stores.keys, config.adminKey) };
  const secrets = secretsFor(config);
  const operations = createOperations({
    backend,
    sealer: createAesSealer(secrets),
    pageTokens: createPageTokens(secrets, config.pageTokenTtlMs),
    random: createRandomness(),
    wakeups,
    rateLimiter: createMemoryRateLimiter({ now }),
    instrumentation,
    settings: config.settings,
  });
  return {
    backend,
    operations,
    health: async () => ({ store: await backend.tokens.health(), idempotency: await backend.idempotency.health() }),
  };
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
