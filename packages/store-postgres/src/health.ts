import type { Health } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import { reasonOf } from "./failures.ts";

export type HealthCheck = () => Promise<Health>;

const NOW: Statement = { name: "now", text: "SELECT formbridge.now_ms() AS now" };

export async function databaseNow(db: Database): Promise<number> {
  const [row] = await db.read<{ now: number }>(NOW, []);
  return row?.now ?? Number.NaN;
}

export function createHealthCheck(db: Database): HealthCheck {
  return async () => {
    const started = performance.now();
    const asked = Date.now();
    try {
      const now = await databaseNow(db);
      const latencyMs = performance.now() - started;
      // The answer was made half-way, as far as one can tell.
      return { healthy: true, latencyMs, clockSkewMs: Math.round(now - asked - latencyMs / 2) };
    } catch (error) {
      return { healthy: false, latencyMs: performance.now() - started, detail: reasonOf(error) };
    }
  };
}
