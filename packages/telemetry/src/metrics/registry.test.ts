import { expect, it } from "vitest";
import { createMetrics } from "./registry.ts";
import { createScraper } from "./scrape.ts";

const textOf = async (metrics: ReturnType<typeof createMetrics>): Promise<string> =>
  (await createScraper(metrics, undefined)()).body;

it("[OBSERVE-LABELS] with 10,000 intakes, those past the limit are counted together as other", async () => {
  const metrics = createMetrics({ labelLimit: 200 });
  for (let number = 0; number < 10_000; number++) {
    metrics.count("formbridge_token_created_count_total", 1, `intake-${number}`);
    metrics.observe("formbridge_idempotency_request_duration_ms", 7, `intake-${number}`, "create", "false");
  }
  const text = await textOf(metrics);
  expect(text.match(/^formbridge_token_created_count_total\{/gm)).toHaveLength(201);
  expect(text).toContain('formbridge_token_created_count_total{intake_id="other"} 9800');
  expect(text).toContain('formbridge_token_created_count_total{intake_id="intake-199"} 1');
  expect(text.match(/^formbridge_idempotency_request_duration_ms_count\{/gm)).toHaveLength(201);
});

it("a value on the bound of a bucket belongs to it, and one beyond all bounds to +Inf alone", async () => {
  const metrics = createMetrics({ labelLimit: 1 });
  for (const ms of [0, 1, 1.5, 1_000, 1_001]) {
    metrics.observe("formbridge_idempotency_storage_operation_duration_ms", ms, "store", "sqlite");
  }
  const text = await textOf(metrics);
  const bucket = (bound: string): string | undefined =>
    new RegExp(`_bucket\\{operation="store",backend="sqlite",le="${bound.replace("+", "\\+")}"\\} (\\d+)`).exec(
      text,
    )?.[1];
  expect(["1", "5", "1000", "+Inf"].map(bucket)).toEqual(["2", "3", "4", "5"]);
  expect(text).toContain('_sum{operation="store",backend="sqlite"} 2003.5');
});

it("a label's value can't start a new line", async () => {
  const metrics = createMetrics({ labelLimit: 10 });
  metrics.count("formbridge_token_created_count_total", 1, 'a"} 1\nformbridge_forged 1');
  const text = await textOf(metrics);
  expect(text).not.toMatch(/^formbridge_forged/m);
  expect(text).toContain('{intake_id="a\\"} 1\\nformbridge_forged 1"} 1');
});

it("[OBSERVE-SCRAPE-KEY] a scrape without the key, or with a wrong one, learns nothing", async () => {
  const metrics = createMetrics({ labelLimit: 10 });
  metrics.count("formbridge_token_created_count_total", 1, "contact");
  const scrape = createScraper(metrics, "the-right-key-of-16");
  for (const wrong of [
    undefined,
    "",
    "Bearer",
    "Bearer the-wrong-key",
    "Basic the-right-key-of-16",
    "the-right-key-of-16",
  ]) {
    const { status, body } = await scrape(wrong);
    expect([wrong, status, body.includes("contact")]).toEqual([wrong, 401, false]);
  }
  expect((await scrape("Bearer the-right-key-of-16")).status).toBe(200);
});
