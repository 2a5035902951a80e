import type { LogOptions, TelemetryOptions } from "@formbridge/telemetry";
import { bad, ConfigError, isWebUrl, type Reader } from "./reader.ts";

/** Without metrics, nobody can read them and nothing is measured. */
export interface TelemetryChoice extends Pick<TelemetryOptions, "metrics" | "traces"> {
  log: { format: "auto" | "json" | "pretty" } & LogOptions;
}

type OtlpChoice = Omit<NonNullable<TelemetryOptions["traces"]>, "ratio" | "everyMs">;

/** Sampling rates of debug lines about waiting for idempotency keys, and about looking them up. */
const SAMPLED = { debug: 0.01, lookups: 0.1 };
const ALL = { debug: 1, lookups: 1 };

export function telemetryOf(read: Reader): TelemetryChoice {
  const format = read.oneOf("FORMBRIDGE_LOG_FORMAT", ["auto", "json", "pretty"]);
  const sampling = read.isOn("FORMBRIDGE_LOG_SAMPLING") ? SAMPLED : ALL;
  const otlp = otlpOf(read);
  const metrics = metricsOf(read, otlp);
  const traces = tracesOf(read, otlp);
  return { log: { format, sampling }, ...(metrics && { metrics }), ...(traces && { traces }) };
}

function tracesOf(read: Reader, otlp: OtlpChoice | undefined): TelemetryChoice["traces"] {
  const text = read.text("FORMBRIDGE_TRACES_RATIO");
  const ratio = Number(text);
  if (!/^(?:0|1|[01]?\.\d+)$/.test(text) || ratio > 1)
    throw bad("FORMBRIDGE_TRACES_RATIO", text, "the share of traces to export, from 0 (off) to 1");
  const everyMs = read.number("FORMBRIDGE_OTLP_TRACES_INTERVAL_MS", { min: 10 });
  if (ratio === 0) return undefined;
  if (otlp === undefined)
    throw new ConfigError(
      `FORMBRIDGE_TRACES_RATIO is ${text}, but traces have nowhere to go; it takes FORMBRIDGE_OTLP_ENDPOINT as well.`,
    );
  return { ...otlp, ratio, everyMs };
}

function metricsOf(read: Reader, otlp: OtlpChoice | undefined): TelemetryChoice["metrics"] {
  const labelLimit = read.number("FORMBRIDGE_METRICS_LABEL_LIMIT", { min: 1, max: 100_000 });
  const maxTokens = read.number("FORMBRIDGE_TOKEN_STORE_MAX", { min: 1 });
  const key = read.checked("FORMBRIDGE_METRICS_KEY", isKey, "at least 16 printable characters without space");
  const isOnPort = read.optional("FORMBRIDGE_METRICS_PORT") !== undefined;
  const port = isOnPort && {
    host: read.text("FORMBRIDGE_METRICS_HOST"),
    port: read.number("FORMBRIDGE_METRICS_PORT", { max: 65_535 }),
  };
  const everyMs = read.number("FORMBRIDGE_OTLP_METRICS_INTERVAL_MS", { min: 10 });
  if (key === undefined && port === false && otlp === undefined) return undefined;
  return {
    labelLimit,
    maxTokens,
    lookEveryMs: read.number("FORMBRIDGE_METRICS_LOOK_MS", { min: 10 }),
    ...(key !== undefined && { key }),
    ...(port !== false && { port }),
    ...(otlp && { push: { ...otlp, everyMs } }),
  };
}

const isKey = (text: string): boolean => /^[\x21-\x7e]{16,}$/.test(text);

function otlpOf(read: Reader): OtlpChoice | undefined {
  const takes = "the http: or https: URL of an OpenTelemetry collector";
  const endpoint = read.checked("FORMBRIDGE_OTLP_ENDPOINT", isWebUrl, takes);
  if (endpoint === undefined) return undefined;
  return {
    endpoint: endpoint.replace(/\/$/, ""),
    headers: headersOf(read.optional("FORMBRIDGE_OTLP_HEADERS")),
    timeoutMs: read.number("FORMBRIDGE_OTLP_TIMEOUT_MS", { min: 1 }),
  };
}

/** `name=value,name=value`, percent-encoded, as defined by OpenTelemetry. */
function headersOf(text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  const pairs = text.split(",").map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair));
  return Object.fromEntries(
    pairs.map((pair) => {
      try {
        if (pair !== null) return [pair[1] ?? "", decodeURIComponent(pair[2] ?? "")];
      } catch {
        // Reported below.
      }
      throw bad("FORMBRIDGE_OTLP_HEADERS", text, "name=value pairs with commas, percent-encoded");
    }),
  );
}
