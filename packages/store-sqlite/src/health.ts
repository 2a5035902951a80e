import type { Health } from "@formbridge/core";
import type { Database } from "better-sqlite3";

export type HealthCheck = () => Promise<Health>;

export function createHealthCheck(db: Database): HealthCheck {
  const probe = db.prepare("SELECT count(*) FROM schema_migrations");
  return async () => {
    const started = performance.now();
    try {
      probe.get();
      // The store's clock is this process's own.
      return { healthy: true, latencyMs: performance.now() - started, clockSkewMs: 0 };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return { healthy: false, latencyMs: performance.now() - started, detail };
    }
  };
}
