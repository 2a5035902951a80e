import {
  type Backend,
  type Courier,
  type Health,
  type Instrumentation,
  type Tracing,
  untraced,
} from "@formbridge/core";
import { type AnsweredRequest, requestFields } from "./log/fields.ts";
import { createLogRecorder, type Log, type LogOptions, logStorage } from "./log/record-measure.ts";
import { observeProcess } from "./metrics/process-gauges.ts";
import { type OtlpOptions, pushMetrics } from "./metrics/push.ts";
import { createMeasureRecorder } from "./metrics/record-measure.ts";
import { createMetrics, type Metrics } from "./metrics/registry.ts";
import { createScraper, openScrapePort } from "./metrics/scrape.ts";
import { createSizeKeeper } from "./metrics/sizes.ts";
import { watchStores } from "./metrics/store-gauges.ts";
import { observeBackend } from "./observe-backend.ts";
import { exportTraces } from "./traces/export.ts";
import { traceBackend, traceCourier } from "./traces/trace-calls.ts";
import { createTracing } from "./traces/tracing.ts";

export type Role = "serve" | "worker" | "mcp" | "embedded";

export interface TelemetryOptions {
  log: Log;
  logging: LogOptions;
  version: string;
  role: Role;
  /** The names of the backends in labels. */
  backends: { database: string; idempotency: string };
  /** Absent: nothing is measured. */
  metrics?: {
    labelLimit: number;
    maxTokens: number;
    /** Pause between two samples of the stores. */
    lookEveryMs: number;
    key?: string;
    port?: { host: string; port: number };
    push?: OtlpOptions & { everyMs: number };
  };
  /** Absent: nothing is traced. */
  traces?: OtlpOptions & { ratio: number; everyMs: number };
  now?: () => number;
}

export interface ToolCall {
  tool: string;
  outcome: "success" | "error";
  ms: number;
}

export interface Telemetry {
  instrumentation: Instrumentation;
  tracing: Tracing;
  observe(backend: Backend): Backend;
  observeCourier(courier: Courier): Courier;
  request(request: AnsweredRequest): void;
  toolCall(call: ToolCall): void;
  /** Present if metrics are served on the server's own port, to callers with the key. */
  scrape?: ReturnType<typeof createScraper>;
  /** Starts sampling the stores, pushing, and listening for scrapes. */
  start(stores: Stores): Promise<{ metricsUrl?: string }>;
  stop(): Promise<void>;
}

interface Stores {
  backend: Backend;
  health(): Promise<Record<string, Health>>;
  redisMemory?: () => Promise<number>;
}

/** A collector that hangs delays a stop by at most this. */
const LAST_PUSH_MS = 2_000;

/** Turns what the product reports into metrics and log lines. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { backends, now = Date.now } = options;
  const traces = options.traces && exportTraces({ ...options, ...options.traces });
  const tracing = traces && options.traces ? createTracing({ ...options.traces, onTrace: traces.add }) : untraced;
  const log = tracing.isOn ? withTraceId(options.log, tracing) : options.log;
  const metrics = options.metrics && createMetrics({ labelLimit: options.metrics.labelLimit, now });
  const sizes = createSizeKeeper();
  const toMetrics = metrics && createMeasureRecorder(metrics, now);
  const toLog = createLogRecorder(log, options.logging);
  const scrape = metrics && createScraper(metrics, options.metrics?.key);
  const stops: (() => unknown)[] = traces ? [() => Promise.race([traces.stop(), afterMs(LAST_PUSH_MS)])] : [];
  return {
    instrumentation: {
      record:
        toMetrics === undefined
          ? toLog
          : (measure) => {
              toMetrics(measure);
              sizes.record(measure);
              toLog(measure);
            },
    },
    tracing,
    observe(backend) {
      const traced = tracing.isOn ? traceBackend(backend, tracing, backends.database) : backend;
      if (metrics === undefined) return traced;
      return observeBackend(traced, { metrics, backends, sizes, onStorage: (note) => logStorage(log, note) });
    },
    observeCourier: (courier) => (tracing.isOn ? traceCourier(courier, tracing) : courier),
    request: createRequestRecorder(log, metrics),
    toolCall({ tool, outcome, ms }) {
      metrics?.observe("formbridge_mcp_call_duration_seconds", ms / 1000, tool, outcome);
    },
    ...(scrape && options.metrics?.key !== undefined && { scrape }),
    async start({ backend, health, redisMemory }) {
      const { database } = backends;
      const onSkew = (name: string, skewMs: number): void =>
        log.warn({ component: "storage", event: "clock.skew", backend: name, skewMs }, "the clocks differ");
      const { metrics: chosen } = options;
      if (metrics === undefined || scrape === undefined || chosen === undefined) return {};
      stops.push(observeProcess(metrics, options));
      const { maxTokens, lookEveryMs: everyMs } = chosen;
      const watched = { metrics, sizes, backend, health, database, maxTokens, everyMs, onSkew };
      stops.push(watchStores({ ...watched, ...(redisMemory && { redisMemory }) }));
      if (chosen.push !== undefined) {
        const end = pushMetrics(metrics, { ...chosen.push, log });
        stops.push(() => Promise.race([end(), afterMs(LAST_PUSH_MS)]));
      }
      if (chosen.port === undefined) return {};
      const port = await openScrapePort(scrape, chosen.port);
      stops.push(port.close);
      log.info({ component: "metrics", event: "metrics.listening", metricsUrl: port.url }, "metrics can be scraped");
      return { metricsUrl: port.url };
    },
    async stop() {
      for (const stop of stops.splice(0).reverse()) await stop();
    },
  };
}

/** The same log; lines written during a traced call name its trace. */
function withTraceId(log: Log, tracing: Tracing): Log {
  const named = (fields: object): object => {
    const traceId = tracing.traceId();
    return traceId === undefined ? fields : { ...fields, traceId };
  };
  return {
    isLevelEnabled: (level) => log.isLevelEnabled(level),
    debug: (fields, text) => log.debug(named(fields), text),
    info: (fields, text) => log.info(named(fields), text),
    warn: (fields, text) => log.warn(named(fields), text),
    error: (fields, text) => log.error(named(fields), text),
    fatal: (fields, text) => log.fatal(named(fields), text),
  };
}

const afterMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

/** Called by machines every few seconds, so not worth a log line. */
const PROBES = new Set(["/healthz", "/readyz", "/metrics"]);

function createRequestRecorder(log: Log, metrics: Metrics | undefined): (request: AnsweredRequest) => void {
  const isInfo = log.isLevelEnabled("info");
  return (request) => {
    const { method, route, status, ms, facts } = request;
    metrics?.observe("formbridge_http_request_duration_seconds", ms / 1000, method, route, String(status));
    if (status >= 500) log.error(requestFields(request), "answered");
    else if (facts.outcome === "token_conflict") log.warn(requestFields(request), "answered");
    else if (PROBES.has(route)) log.debug(requestFields(request), "answered");
    else if (isInfo) log.info(requestFields(request), "answered");
  };
}
