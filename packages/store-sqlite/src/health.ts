import { type Health, StoreDown } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { Writer } from "./writer.ts";

export type HealthCheck = () => Promise<Health>;

/** Reads; after a failed write it also writes, because only a successful write shows that the store works again. */
export function createHealthCheck(db: Database, writer: Writer): HealthCheck {
  const read = db.prepare("SELECT count(*) FROM schema_migrations");
  // Nobody reads this number. Setting it writes a page and syncs it, as every commit does.
  const touch = db.prepare("PRAGMA user_version = 0");
  return async () => {
    const started = performance.now();
    try {
      read.get();
      if (writer.isFailing()) await writer.write(() => void touch.run());
      // The store's clock is this process's own.
      return { healthy: true, latencyMs: performance.now() - started, clockSkewMs: 0 };
    } catch (error) {
      const { message } = error instanceof StoreDown && error.cause instanceof Error ? error.cause : (error as Error);
      return { healthy: false, latencyMs: performance.now() - started, detail: message };
    }
  };
}
