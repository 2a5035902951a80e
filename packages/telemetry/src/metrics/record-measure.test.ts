import { expect, it } from "vitest";
import { createMeasureRecorder } from "./record-measure.ts";
import { createMetrics } from "./registry.ts";
import { createScraper } from "./scrape.ts";

it("[OBSERVE-LABELS] the share of replays of intakes past the limit is that of all of them", async () => {
  const metrics = createMetrics({ labelLimit: 1 });
  const record = createMeasureRecorder(metrics, () => 0);
  const request = (intakeId: string, replayed: boolean): void =>
    record({
      name: "operation",
      operation: "createSubmission",
      outcome: "ok",
      ms: 1,
      facts: { intakeId, replayed, key: { operation: "create", hash: "h" } },
    });
  request("first", false);
  for (const intakeId of ["second", "third", "fourth"]) request(intakeId, true);
  request("fifth", false);
  const { body } = await createScraper(metrics, undefined)();
  expect(body).toContain('formbridge_idempotency_cache_hit_rate{intake_id="first"} 0');
  expect(body).toContain('formbridge_idempotency_cache_hit_rate{intake_id="other"} 0.75');
});
