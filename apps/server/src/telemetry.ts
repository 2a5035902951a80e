import { createTelemetry, type Role, type Telemetry } from "@formbridge/telemetry";
import type { Logger } from "pino";
import type { Config } from "./config/config.ts";
import { VERSION } from "./version.ts";

/** Metrics, log lines and traces of one process, as the settings say. */
export function telemetryFor(config: Config, { lines, role }: { lines: Logger; role: Role }): Telemetry {
  const { log: logging, ...exported } = config.telemetry;
  const database = config.database.kind;
  const idempotency = config.backends.idempotency === "redis" ? "redis" : database;
  if (database === "memory") {
    const about = { component: "storage", event: "storage.memory" };
    lines.warn(about, "FORMBRIDGE_DATABASE_URL is memory: everything is lost when the process ends");
  }
  return createTelemetry({
    log: lines,
    logging,
    version: VERSION,
    role,
    backends: { database, idempotency },
    ...exported,
  });
}
