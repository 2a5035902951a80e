import type { Health } from "@formbridge/core";
import type { Tables } from "./tables.ts";

export async function health({ closed }: Tables): Promise<Health> {
  return closed
    ? { healthy: false, latencyMs: 0, detail: "the store is closed" }
    : { healthy: true, latencyMs: 0, clockSkewMs: 0 };
}
