import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Client } from "./client-process.ts";
import { compare, createSide, KINDS, type Pairing, type Rounds, type Side } from "./compare.ts";
import { ADMIN_KEY, type Server, startOurs } from "./server-process.ts";
import { median } from "./stats.ts";

const METRICS_KEY = "the-key-of-one-run-of-the-benchmark";
const SUBMISSIONS = 1024;
const INTAKES = 200;

export interface TelemetryMeasures {
  pairings: Pairing[];
  /** The same with traces as well, one in ten sent. */
  traced: Pairing[];
  /** One scrape, after each of 200 intakes had a submission with an idempotency key. */
  scrapeMs: number;
}

const OFF = { FORMBRIDGE_LOG_LEVEL: "warn", FORMBRIDGE_ALARMS: "off" };
const ON = { FORMBRIDGE_LOG_LEVEL: "info", FORMBRIDGE_METRICS_KEY: METRICS_KEY };

/** Accepts everything and discards it. Runs in this process, so that the servers only pay for sending. */
async function startSink(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

/** Metrics and log on, without and with traces, against all off, on three servers. */
export async function measureTelemetry(client: Client, folder: string, rounds: Rounds): Promise<TelemetryMeasures> {
  const off = await startOurs(join(folder, "telemetry-off"), { env: OFF });
  const on = await startOurs(join(folder, "telemetry-on"), { env: ON });
  const sink = await startSink();
  const env = { ...ON, FORMBRIDGE_OTLP_ENDPOINT: sink.url, FORMBRIDGE_TRACES_RATIO: "0.1" };
  const tracing = await startOurs(join(folder, "telemetry-traced"), { env });
  try {
    const silent = await createSide(client, off, SUBMISSIONS);
    const against = async (server: Server): Promise<Pairing[]> => {
      const sides: [Side, Side] = [silent, await createSide(client, server, SUBMISSIONS)];
      const pairings: Pairing[] = [];
      for (const kind of KINDS) pairings.push(await compare(client, sides, { kind, rounds }));
      return pairings;
    };
    return { pairings: await against(on), traced: await against(tracing), scrapeMs: await scrape(on) };
  } finally {
    await off.stop();
    await on.stop();
    await tracing.stop();
    await sink.stop();
  }
}

async function scrape({ port }: Server): Promise<number> {
  const url = `http://127.0.0.1:${port}`;
  const key = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
  for (let number = 0; number < INTAKES; number++) {
    const id = `intake-${number}`;
    const definition = {
      id,
      version: "1",
      name: id,
      access: "public",
      schema: { type: "object", properties: { name: { type: "string" } } },
      destination: { kind: "store" },
    };
    await fetch(`${url}/intakes/${id}`, { method: "PUT", headers: key, body: JSON.stringify(definition) });
    const body = JSON.stringify({ actor: { kind: "agent", id: "bench" } });
    const headers = { ...key, "idempotency-key": `key-of-the-bench-${number}` };
    await fetch(`${url}/intakes/${id}/submissions`, { method: "POST", headers, body });
  }
  const times: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const began = performance.now();
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_KEY}` } });
    await answer.text();
    times.push(performance.now() - began);
  }
  return median(times);
}
