import { expect, it } from "vitest";
import { createTelemetry } from "../telemetry.ts";
import { createTracing, type LocalTrace } from "./tracing.ts";

const HANDOFF = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const nothing = async (): Promise<void> => {};

function recording(ratio = 1) {
  const traces: LocalTrace[] = [];
  return { traces, tracing: createTracing({ ratio, onTrace: (trace) => traces.push(trace), chance: () => 0.5 }) };
}

it.each([
  { ratio: 1, names: ["setFields", "validateToken", "rotateToken"] },
  { ratio: 0.1, names: ["setFields", "rotateToken"] },
])("moves a call into the trace that it turns out to belong to, sampled or not ($ratio)", async ({ ratio, names }) => {
  const { traces, tracing } = recording(ratio);
  await tracing.entry("setFields", async () => {
    await tracing.span("validateToken", nothing);
    tracing.join(HANDOFF);
    await tracing.span("rotateToken", nothing);
  });
  expect(traces[0]?.traceId).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
  expect(traces[0]?.spans.map(({ name }) => name)).toEqual(names);
});

it("does not sample what joins a trace that is not sampled", async () => {
  const { traces, tracing } = recording();
  await tracing.entry("setFields", async () => tracing.join(HANDOFF.replace(/1$/, "0")));
  expect(traces).toEqual([]);
});

it("leaves out what still runs after the call has ended, and work that the call happened to wake", async () => {
  const { traces, tracing } = recording();
  let late = nothing;
  let woken = nothing;
  await tracing.entry("submit", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const flushed = promise.then(() => tracing.span("store.commit", nothing));
    late = () => {
      resolve();
      return flushed;
    };
    const job = tracing.entry("deliver", nothing, { alone: true });
    woken = () => job;
  });
  await Promise.all([late(), woken()]);
  expect(traces.map(({ spans }) => spans.map(({ name }) => name)).sort()).toEqual([["deliver"], ["submit"]]);
});

it("keeps a bounded number of spans of one call", async () => {
  const { traces, tracing } = recording();
  await tracing.entry("sweep", async () => {
    for (let count = 0; count < 1_000; count++) await tracing.span("store.load", nothing);
  });
  expect(traces[0]?.spans).toHaveLength(256);
  expect(traces[0]?.dropped).toBe(745);
});

it("names the trace in log lines, but not one that is not exported", async () => {
  const lines: object[] = [];
  const write = (fields: object): void => {
    if ("event" in fields && fields.event === "delivery.dead") lines.push(fields);
  };
  const telemetryAt = (ratio: number) =>
    createTelemetry({
      log: { isLevelEnabled: () => true, debug: write, info: write, warn: write, error: write, fatal: write },
      logging: { sampling: { debug: 1, lookups: 1 } },
      version: "0",
      role: "serve",
      backends: { database: "memory", idempotency: "memory" },
      traces: { endpoint: "http://127.0.0.1:9", headers: {}, timeoutMs: 10, everyMs: 60_000, ratio },
    });
  const report = async (ratio: number, parent?: string): Promise<void> => {
    const telemetry = telemetryAt(ratio);
    const work = async () => telemetry.instrumentation.record({ name: "delivery_dead", intakeId: "a" });
    await telemetry.tracing.entry("deliver", work, { parent });
    await telemetry.stop();
  };
  await report(1e-9, CALLER);
  await report(1e-9);
  await report(1);
  expect(lines).toEqual([
    expect.objectContaining({ traceId: "0af7651916cd43dd8448eb211c80319c" }),
    expect.not.objectContaining({ traceId: expect.anything() }),
    expect.objectContaining({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/) }),
  ]);
});
