import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Log } from "../log/record-measure.ts";
import type { OtlpOptions } from "../metrics/push.ts";
import { reportExports } from "../report-exports.ts";
import type { Position } from "./traceparent.ts";
import { type LocalTrace, type RecordedSpan, spanIdOf, traceIdOf } from "./tracing.ts";

export interface TraceExportOptions extends OtlpOptions {
  everyMs: number;
  version: string;
  role: string;
  log: Log;
}

/** Spans that wait for the collector. Beyond this, new ones are dropped. */
const MAX_WAITING = 2_048;
const MS = 1_000;
const NS_PER_MS = 1_000_000;

/** Sends traces to a collector in batches. One that hangs or is down delays nobody: the queue is bounded. */
export function exportTraces(options: TraceExportOptions): { add(trace: LocalTrace): void; stop(): Promise<void> } {
  const { endpoint, headers, timeoutMs, everyMs, version, role, log } = options;
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: timeoutMs });
  reportExports(exporter, "traces", log);
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: everyMs,
    exportTimeoutMillis: timeoutMs,
    maxQueueSize: MAX_WAITING,
  });
  const resource = resourceFromAttributes({
    "service.name": "formbridge-api",
    "service.version": version,
    "formbridge.role": role,
  });
  const about = { resource, instrumentationScope: { name: "formbridge", version } };
  return {
    add(trace) {
      for (const span of trace.spans) processor.onEnd(readable(span, about));
    },
    stop: () => processor.shutdown().catch(() => {}),
  };
}

const contextOf = ({ traceId, spanId, sampled }: Position) => ({
  traceId,
  spanId,
  traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
});

const hrTime = (ms: number): HrTime => {
  const seconds = Math.floor(ms / MS);
  return [seconds, Math.round((ms - seconds * MS) * NS_PER_MS)];
};

function readable(span: RecordedSpan, about: Pick<ReadableSpan, "resource" | "instrumentationScope">): ReadableSpan {
  const { name, trace, parent, startedAt, endedAt, attributes, failure } = span;
  const context = contextOf({ traceId: traceIdOf(trace), spanId: spanIdOf(span), sampled: true });
  const above = parent === undefined ? trace.parent : { ...context, spanId: spanIdOf(parent), sampled: true };
  const isFirst = parent === undefined;
  return {
    ...about,
    name,
    kind: isFirst ? SpanKind.SERVER : name === "send" ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => context,
    ...(above && { parentSpanContext: { ...contextOf(above), isRemote: isFirst } }),
    startTime: hrTime(performance.timeOrigin + startedAt),
    endTime: hrTime(performance.timeOrigin + endedAt),
    duration: hrTime(endedAt - startedAt),
    status: failure === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: failure },
    attributes: { ...attributes, ...(isFirst && trace.dropped > 0 && { "spans.dropped": trace.dropped }) },
    links: isFirst && trace.link !== undefined ? [{ context: contextOf(trace.link) }] : [],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
