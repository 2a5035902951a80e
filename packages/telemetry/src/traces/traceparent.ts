/** A position in a trace, as W3C's trace context defines it. */
export interface Position {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Undefined for what isn't a `traceparent`. Later versions may be longer, and only version 00 is known. */
export function parseTraceparent(text: string | undefined): Position | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = HEADER.exec(text ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: Position): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
