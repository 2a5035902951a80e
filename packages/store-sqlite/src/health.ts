import { type Health, StoreDown } from "@formbridge/core";
import type { Database } from "better-sqlite3";

export type HealthCheck = () => Promise<Health>;

/** `isFailing` tells that the last write failed: then only a write that succeeds is a sign of health. */
export function createHealthCheck(
  db: Database,
  { isFailing, write }: { isFailing(): boolean; write(): Promise<void> },
): HealthCheck {
  const probe = db.prepare("SELECT count(*) FROM schema_migrations");
  return async () => {
    const started = performance.now();
    try {
      probe.get();
      if (isFailing()) await write();
      // The store's clock is this process's own.
      return { healthy: true, latencyMs: performance.now() - started, clockSkewMs: 0 };
    } catch (error) {
      const { message } = error instanceof StoreDown && error.cause instanceof Error ? error.cause : (error as Error);
      return { healthy: false, latencyMs: performance.now() - started, detail: message };
    }
  };
}
