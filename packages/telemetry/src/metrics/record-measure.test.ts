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

it("[HANDOFF-NO-MAIL] a call for what the server was not set up with is no error of the server", async () => {
  const metrics = createMetrics({ labelLimit: 1 });
  const record = createMeasureRecorder(metrics, () => 0);
  const call = { name: "operation", operation: "createHandoff", outcome: "service_unavailable", ms: 1 } as const;
  record({ ...call, facts: { presented: true, notSetUp: true } });
  record({ ...call, facts: { presented: true } });
  const { body } = await createScraper(metrics, undefined)();
  for (const outcome of ["refused", "error"]) {
    expect(body).toContain(`formbridge_token_accessed_count_total{operation="handoff",outcome="${outcome}"} 1`);
    expect(body).toContain(`duration_seconds_count{operation="createHandoff",outcome="${outcome}"} 1`);
  }
});
