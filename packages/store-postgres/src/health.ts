import type { Health } from "@formbridge/core";
import { computed } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { reasonOf } from "./failures.ts";
import { sql, statement } from "./sql.ts";

export type HealthCheck = () => Promise<Health>;

const NOW_MS = computed<{ now: number }>("formbridge.now_ms() AS now");
const NOW = statement("now", sql`SELECT ${NOW_MS}`);

export async function databaseNow(db: Database): Promise<number> {
  const [row] = await db.read(NOW, []);
  return row?.now ?? Number.NaN;
}

/** A standby, or a database, role or server with `default_transaction_read_only`. */
const READ_ONLY = computed<{ read_only: boolean }>(
  "pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only",
);
const STATE = statement("health", sql`SELECT ${NOW_MS}, ${READ_ONLY}`);
const WRITE = statement(
  "health_write",
  sql`INSERT INTO formbridge.write_probe DEFAULT VALUES ON CONFLICT (single) DO UPDATE SET probed_at = now()`,
);

/** Checks whether the database accepts writes. After a failed write, only a successful write is a sign of health. */
export function createHealthCheck(db: Database): HealthCheck {
  return async () => {
    const started = performance.now();
    const asked = Date.now();
    try {
      const [state] = await db.read(STATE, []);
      const latencyMs = performance.now() - started;
      if (state?.read_only !== false) return { healthy: false, latencyMs, detail: "the database is read-only" };
      if (db.isFailing()) await db.write(WRITE, []);
      // Assumes that the server read its clock halfway through the round trip.
      return { healthy: true, latencyMs, clockSkewMs: Math.round(state.now - asked - latencyMs / 2) };
    } catch (error) {
      return { healthy: false, latencyMs: performance.now() - started, detail: reasonOf(error) };
    }
  };
}
