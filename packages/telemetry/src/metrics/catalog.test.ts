import { expect, test } from "vitest";
import { LIMITED_LABELS, METRICS, type MetricSpec } from "./catalog.ts";

const specs = Object.entries<MetricSpec>(METRICS);

/** Labels whose values the code chooses. */
const CLOSED_LABELS = [
  ...["backend", "conflict_type", "destination", "direction", "error_type", "kind", "method", "operation", "outcome"],
  ...["quantile", "reason", "replayed", "role", "route", "rule", "status", "type", "version", "what"],
];

test("a metric's name says its unit, and only a counter ends in _total", () => {
  for (const [name, { kind, unit }] of specs) {
    expect(name, name).toMatch(/^formbridge_[a-z0-9]+(?:_[a-z0-9]+)*$/);
    expect(name.endsWith("_total"), name).toBe(kind === "counter");
    const stem = name.replace(/_total$/, "");
    expect(stem.endsWith("_seconds"), name).toBe(unit === "s");
    expect(stem.endsWith("_ms"), name).toBe(unit === "ms");
    expect(stem.endsWith("_bytes"), name).toBe(unit === "By");
  }
});

test("histograms, and nothing else, have buckets, in order", () => {
  for (const [name, { kind, buckets }] of specs) {
    expect(buckets !== undefined, name).toBe(kind === "histogram");
    expect([...(buckets ?? [])].sort((one, other) => one - other)).toEqual(buckets ?? []);
  }
});

test("a label either has values that the code chooses, or a limit", () => {
  const labels = new Set(specs.flatMap(([, { labels: named = [] }]) => named));
  expect([...labels].sort()).toEqual([...CLOSED_LABELS, ...LIMITED_LABELS].sort());
});

test("every name of the design documents exists once", () => {
  const seeds = specs.flatMap(([, { seed }]) => seed ?? []);
  expect(new Set(seeds).size).toBe(seeds.length);
});
