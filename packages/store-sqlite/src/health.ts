import type { Health } from "@formbridge/core";
import type { Database } from "better-sqlite3";

export type HealthCheck = () => Promise<Health>;

/** `isFailing` tells that the last write failed: then only a write that succeeds is a sign of health. */
export function createHealthCheck(db: Database, isFailing: () => boolean): HealthCheck {
  const probe = db.prepare("SELECT count(*) FROM schema_migrations");
  // Nobody reads this number: to set it writes a page and syncs it, as a commit does.
  const write = db.prepare("PRAGMA user_version = 0");
  return async () => {
    const started = performance.now();
    try {
      probe.get();
      if (isFailing()) write.run();
      // The store's clock is this process's own.
      return { healthy: true, latencyMs: performance.now() - started, clockSkewMs: 0 };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return { healthy: false, latencyMs: performance.now() - started, detail };
    }
  };
}
