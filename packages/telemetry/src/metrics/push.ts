import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import type { Log } from "../log/record-measure.ts";
import { reportExports } from "../report-exports.ts";
import type { Metrics } from "./registry.ts";

export interface OtlpOptions {
  /** The collector's base URL; signals have their paths below it. */
  endpoint: string;
  headers: Record<string, string>;
  timeoutMs: number;
}

interface PushOptions extends OtlpOptions {
  everyMs: number;
  log: Log;
}

/** Sends all metrics to a collector periodically. One that hangs or is down delays nothing. Returns how to stop. */
export function pushMetrics(metrics: Metrics, { endpoint, headers, timeoutMs, everyMs, log }: PushOptions) {
  const exporter = new OTLPMetricExporter({ url: `${endpoint}/v1/metrics`, headers, timeoutMillis: timeoutMs });
  reportExports(exporter, "metrics", log);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(timeoutMs, everyMs),
  });
  reader.setMetricProducer(metrics);
  return () => reader.shutdown({ timeoutMillis: timeoutMs }).catch(() => {});
}
