import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the first of a trace. */
  parentSpanId: string;
  name: string;
  attributes: Record<string, string | number | boolean>;
  links: string[];
  failed: boolean;
  role: string;
}

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** All that arrived, as text to search for what must not be in it. */
  raw(): string;
  stop(): Promise<void>;
}

/** An OpenTelemetry collector on loopback: accepts OTLP over HTTP in protobuf, and keeps the spans. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const sent = Buffer.concat(parts);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
      if (request.url === "/v1/traces") {
        bodies.push(body);
        spans.push(...spansIn(body));
      }
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    raw: () => Buffer.concat(bodies).toString("latin1"),
    stop: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

type Field = { number: number; bytes: Buffer; value: number };

/** The fields of a protobuf message, without its schema. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [number, wire] = [tag >> 3, tag & 7];
    if (wire === 0) fields.push({ number, bytes: Buffer.alloc(0), value: Number(varint()) });
    else {
      const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
      const bytes = message.subarray(at, at + length);
      at += length;
      fields.push({ number, bytes, value: wire === 1 ? bytes.readDoubleLE() : 0 });
    }
  }
  return fields;
}

const messagesIn = (message: Buffer, number: number): Buffer[] =>
  fieldsOf(message).flatMap((field) => (field.number === number ? [field.bytes] : []));
const textIn = (message: Buffer, number: number): string => messagesIn(message, number)[0]?.toString("utf8") ?? "";
const hexIn = (message: Buffer, number: number): string => messagesIn(message, number)[0]?.toString("hex") ?? "";

function attributesIn(message: Buffer, number: number): CollectedSpan["attributes"] {
  const STRING = 1;
  const BOOLEAN = 2;
  return Object.fromEntries(
    messagesIn(message, number).map((pair) => {
      const [field] = fieldsOf(messagesIn(pair, 2)[0] ?? Buffer.alloc(0));
      const plain = field?.number === BOOLEAN ? field.value === 1 : (field?.value ?? 0);
      return [textIn(pair, 1), field?.number === STRING ? field.bytes.toString("utf8") : plain];
    }),
  );
}

/** Field numbers are those of opentelemetry-proto: resource spans, scope spans, spans. */
function spansIn(body: Buffer): CollectedSpan[] {
  return messagesIn(body, 1).flatMap((ofResource) => {
    const role = String(attributesIn(messagesIn(ofResource, 1)[0] ?? Buffer.alloc(0), 1)["formbridge.role"]);
    return messagesIn(ofResource, 2)
      .flatMap((ofScope) => messagesIn(ofScope, 2))
      .map((span) => ({
        traceId: hexIn(span, 1),
        spanId: hexIn(span, 2),
        parentSpanId: hexIn(span, 4),
        name: textIn(span, 5),
        attributes: attributesIn(span, 9),
        links: messagesIn(span, 13).map((link) => hexIn(link, 1)),
        failed: fieldsOf(messagesIn(span, 15)[0] ?? Buffer.alloc(0)).some(
          ({ number, value }) => number === 3 && value === 2,
        ),
        role,
      }));
  });
}
