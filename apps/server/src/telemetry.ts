import { createTelemetry, type Role, type Telemetry } from "@formbridge/telemetry";
import type { Logger } from "pino";
import type { Core } from "./compose.ts";
import type { Config } from "./config/config.ts";
import { VERSION } from "./version.ts";

const DATABASES = { sqlite: "sqlite", postgres: "postgres", memory: "memory" } as const;

/** Metrics, log lines and traces of one process, as the settings say. */
export function telemetryFor(config: Config, { lines, role }: { lines: Logger; role: Role }): Telemetry {
  const { log, metrics, traces } = config.telemetry;
  const database = DATABASES[config.database.kind];
  const idempotency = config.backends.idempotency === "redis" ? "redis" : database;
  if (config.database.kind === "memory") {
    const about = { component: "storage", event: "storage.memory" };
    lines.warn(about, "FORMBRIDGE_DATABASE_URL is memory: everything is lost when the process ends");
  }
  return createTelemetry({
    log: lines,
    logging: log,
    version: VERSION,
    role,
    backends: { database, idempotency },
    ...(metrics && { metrics }),
    ...(traces && { traces }),
  });
}

export const startTelemetry = (
  telemetry: Telemetry,
  { backend, health, redisMemory }: Core,
): Promise<{ metricsUrl?: string }> => telemetry.start({ backend, health, ...(redisMemory && { redisMemory }) });
