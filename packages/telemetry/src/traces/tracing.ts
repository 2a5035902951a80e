/**
 * Records spans and passes whole traces to an exporter. The SDK's tracer fixes a span's trace when the span starts, but a
 * person who follows a hand-off is recognized only once their session has been looked up. So the spans of one call are
 * kept together until its first span ends, and `join` can still move them to another trace. The trade-off: no
 * span events, span limits or samplers of the SDK. Ids, flags and export are OpenTelemetry's.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type { SpanAttributes, Tracing } from "@formbridge/core";
import { formatTraceparent, type Position, parseTraceparent } from "./traceparent.ts";

export interface RecordedSpan {
  readonly name: string;
  readonly trace: LocalTrace;
  readonly parent: RecordedSpan | undefined;
  /** Generated when first needed. */
  id: string | undefined;
  /** Milliseconds since the process's time origin. */
  readonly startedAt: number;
  endedAt: number;
  attributes: SpanAttributes | undefined;
  /** The type of the error that the work ended with. */
  failure: string | undefined;
}

/** The spans of one call in this process. */
export interface LocalTrace {
  traceId: string | undefined;
  sampled: boolean;
  /** The span of another call or process that this one continues from. */
  parent: Position | undefined;
  link: Position | undefined;
  spans: RecordedSpan[];
  dropped: number;
  ended: boolean;
}

export interface TracingOptions {
  /** The share of new traces that is exported. A trace that another process started is exported if that process decided so. */
  ratio: number;
  /** Takes the spans of a sampled trace. Must not throw and must return at once. */
  onTrace(trace: LocalTrace): void;
  chance?: () => number;
}

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
const POOL_BYTES = 4_096;
/** A sweep may call the store thousands of times. */
const MAX_SPANS = 256;

/** Random hexadecimal digits, drawn in bulk: a draw of eight bytes costs more than recording the span. */
let pool = "";
function randomHex(digits: number): string {
  if (pool.length < digits) pool = randomBytes(POOL_BYTES).toString("hex");
  const taken = pool.slice(0, digits);
  pool = pool.slice(digits);
  return taken;
}

export const traceIdOf = (trace: LocalTrace): string => {
  trace.traceId ??= randomHex(TRACE_DIGITS);
  return trace.traceId;
};
export const spanIdOf = (span: RecordedSpan): string => {
  span.id ??= randomHex(SPAN_DIGITS);
  return span.id;
};

export function createTracing({ ratio, onTrace, chance = Math.random }: TracingOptions): Tracing {
  const current = new AsyncLocalStorage<RecordedSpan>();

  function begin(name: string, trace: LocalTrace, parent: RecordedSpan | undefined): RecordedSpan {
    const startedAt = performance.now();
    const rest = { id: undefined, endedAt: startedAt, attributes: undefined, failure: undefined };
    const span: RecordedSpan = { name, trace, parent, startedAt, ...rest };
    if (trace.spans.length < MAX_SPANS) trace.spans.push(span);
    else trace.dropped++;
    return span;
  }

  async function run<T>(span: RecordedSpan, work: () => Promise<T>): Promise<T> {
    try {
      return await current.run(span, work);
    } catch (error) {
      span.failure = failureOf(error);
      throw error;
    } finally {
      span.endedAt = performance.now();
    }
  }

  /** What still runs when the first span has ended, such as a batch that the call started, is no part of the trace. */
  const open = (): RecordedSpan | undefined => {
    const span = current.getStore();
    return span === undefined || span.trace.ended ? undefined : span;
  };

  const newTrace = (parent: Position | undefined): LocalTrace => ({
    traceId: parent?.traceId,
    sampled: parent?.sampled ?? chance() < ratio,
    parent,
    link: undefined,
    spans: [],
    dropped: 0,
    ended: false,
  });

  return {
    isOn: true,
    span(name, work, attributes) {
      const parent = open();
      // A call that isn't sampled keeps only its first span, in case it joins a trace that is.
      if (parent === undefined || !parent.trace.sampled) return work();
      const span = begin(name, parent.trace, parent);
      span.attributes = attributes;
      return run(span, work);
    },
    async entry(name, work, { parent, alone } = {}) {
      const above = alone === true ? undefined : open();
      if (above !== undefined) return await run(begin(name, above.trace, above), work);
      const trace = newTrace(parseTraceparent(parent));
      try {
        return await run(begin(name, trace, undefined), work);
      } finally {
        trace.ended = true;
        if (trace.sampled) onTrace(trace);
      }
    },
    describe(attributes) {
      const span = open();
      if (span?.trace.sampled === true) span.attributes = { ...span.attributes, ...attributes };
    },
    traceparent() {
      const span = open();
      if (span === undefined) return undefined;
      const { trace } = span;
      return formatTraceparent({ traceId: traceIdOf(trace), spanId: spanIdOf(span), sampled: trace.sampled });
    },
    join(traceparent) {
      const trace = traceparent === undefined ? undefined : open()?.trace;
      const position = trace && parseTraceparent(traceparent);
      if (trace === undefined || position === undefined) return;
      if (trace.parent === undefined) {
        trace.parent = position;
        trace.traceId = position.traceId;
        trace.sampled = position.sampled;
      } else if (trace.parent.traceId !== position.traceId) trace.link ??= position;
    },
    traceId() {
      const trace = open()?.trace;
      return trace === undefined || (!trace.sampled && trace.parent === undefined) ? undefined : traceIdOf(trace);
    },
  };
}

/** The contract's error type, else the class: a message may quote what the caller sent. */
function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "type" in error && typeof error.type === "string" ? error.type : error.name;
}
