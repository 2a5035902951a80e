import type { Backend } from "@formbridge/core";
import { expect, it } from "vitest";
import { createMetrics } from "./registry.ts";
import { createScraper } from "./scrape.ts";
import { createSizeKeeper } from "./sizes.ts";
import { watchStores } from "./store-gauges.ts";

it("[OBSERVE-LABELS] recorded answers of intakes past the limit are added up as other", async () => {
  const records = Object.fromEntries(Array.from({ length: 10 }, (_, number) => [`intake-${number}`, 2]));
  const backend = {
    isShared: false,
    sizes: async () => ({ tokens: 10, records }),
    jobsWaiting: async () => 0,
    connectionsInUse: () => 1,
  } as unknown as Backend;
  const metrics = createMetrics({ labelLimit: 3 });
  const sizes = createSizeKeeper();
  await sizes.refresh(backend);
  const health = async () => ({});
  const options = { metrics, sizes, backend, health, database: "sqlite", maxTokens: 1, everyMs: 60_000 };
  const stop = watchStores({ ...options, onSkew: () => {} });
  const { body } = await createScraper(metrics, undefined)();
  stop();
  expect(body).toContain('formbridge_idempotency_key_active_count{intake_id="intake-2"} 2');
  expect(body).toContain('formbridge_idempotency_key_active_count{intake_id="other"} 14');
});
