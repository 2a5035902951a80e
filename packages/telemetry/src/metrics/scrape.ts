import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import type { Metrics } from "./registry.ts";

export interface Scrape {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const TEXT = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" };
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether this is the right key, compared in constant time. */
function createGate(key: string | undefined): (authorization: string | undefined) => boolean {
  if (key === undefined) return () => true;
  const expected = digest(key);
  return (authorization = "") => {
    const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
    return timingSafeEqual(digest(given), expected);
  };
}

/** Serves a scrape in Prometheus' text format, to callers with the key, if there is one. */
export function createScraper(metrics: Metrics, key: string | undefined): (authorization?: string) => Promise<Scrape> {
  const opens = createGate(key);
  const serializer = new PrometheusSerializer("", false, undefined, true, true);
  return async (authorization) => {
    if (!opens(authorization)) {
      const headers = { ...TEXT, "www-authenticate": 'Bearer realm="formbridge metrics"' };
      return { status: 401, headers, body: "A scrape needs the key of FORMBRIDGE_METRICS_KEY as a bearer token.\n" };
    }
    const { resourceMetrics } = await metrics.collect();
    return { status: 200, headers: TEXT, body: serializer.serialize(resourceMetrics) };
  };
}

export interface ScrapePort {
  url: string;
  close(): Promise<void>;
}

/** `/metrics` on a separate port, which a firewall can protect. */
export async function openScrapePort(
  scrape: ReturnType<typeof createScraper>,
  { host, port }: { host: string; port: number },
): Promise<ScrapePort> {
  const server = createServer(async ({ method, url = "", headers }, response) => {
    const isHere = (method === "GET" || method === "HEAD") && url.split("?", 1)[0] === "/metrics";
    const answer = isHere
      ? await scrape(headers.authorization)
      : { status: 404, headers: TEXT, body: "There is only GET /metrics here.\n" };
    response.writeHead(answer.status, answer.headers).end(method === "HEAD" ? undefined : answer.body);
  });
  server.requestTimeout = 10_000;
  await listen(server, { host, port });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, address: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
