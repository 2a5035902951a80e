import { ConfigError, type Reader } from "./reader.ts";
import type { SettingName } from "./settings.ts";

const TOKEN_BACKENDS = ["sql", "redis", "hybrid", "memory"] as const;
const IDEMPOTENCY_BACKENDS = ["sql", "redis", "memory"] as const;

/** Which backend serves what. The database decides on every write, whatever is chosen. */
export interface Backends {
  tokens: (typeof TOKEN_BACKENDS)[number];
  idempotency: (typeof IDEMPOTENCY_BACKENDS)[number];
}

interface Surroundings {
  database: "sqlite" | "postgres" | "memory";
  hasRedis: boolean;
}

const VARIABLES = {
  tokens: "FORMBRIDGE_TOKEN_BACKEND",
  idempotency: "FORMBRIDGE_IDEMPOTENCY_BACKEND",
} as const satisfies Record<keyof Backends, SettingName>;

export function backendsOf(read: Reader, around: Surroundings): Backends {
  const choose = <Choice extends string>(name: SettingName, choices: readonly Choice[]) =>
    read.optional(name) === undefined ? undefined : read.oneOf(name, choices);
  const fallback = around.database === "memory" ? "memory" : "sql";
  const chosen: Backends = {
    tokens: choose(VARIABLES.tokens, TOKEN_BACKENDS) ?? fallback,
    idempotency: choose(VARIABLES.idempotency, IDEMPOTENCY_BACKENDS) ?? fallback,
  };
  for (const what of ["tokens", "idempotency"] as const) {
    const reason = reasonAgainst(what, chosen[what], around);
    if (reason !== undefined) throw new ConfigError(`${VARIABLES[what]} is "${chosen[what]}", but ${reason}.`);
  }
  return chosen;
}

/** Why this choice can't keep the server's promises; undefined if it can. */
function reasonAgainst(
  what: keyof Backends,
  backend: Backends["tokens"],
  { database, hasRedis }: Surroundings,
): string | undefined {
  if (backend === "sql") {
    return database === "memory"
      ? 'FORMBRIDGE_DATABASE_URL is "memory:", which is no SQL database: use "memory"'
      : undefined;
  }
  if (backend === "memory") return againstMemory(what, database);
  if (!hasRedis) return "FORMBRIDGE_REDIS_URL is not set: set it to the URL of Redis";
  return database === "memory"
    ? "Redis may lose data and needs a durable database behind it. Set FORMBRIDGE_DATABASE_URL"
    : undefined;
}

function againstMemory(what: keyof Backends, database: Surroundings["database"]): string | undefined {
  if (database === "postgres") {
    return 'instances on PostgreSQL do not see each other\'s memory: use "sql" or Redis';
  }
  return what === "tokens" && database === "sqlite"
    ? 'tokens in memory would end with the process, while their submissions stay in the file: use "sql"'
    : undefined;
}
