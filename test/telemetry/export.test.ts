/** How metrics leave a process: a port of its own, a key, a push; and that none of it holds anybody up. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createFormBridge, type FormBridge, readConfig } from "../../apps/server/src/index.ts";
import { start, startServerProcess, tempFolder } from "../support/child.ts";
import { startMcpProcess } from "../support/mcp-process.ts";
import { until } from "../support/moves.ts";
import { createMigratedDatabase } from "../support/services/postgres.ts";

const folders: { remove(): void }[] = [];
const running: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  for (const folder of folders.splice(0)) folder.remove();
});

async function open(settings: Record<string, string> = {}): Promise<FormBridge> {
  const folder = tempFolder();
  folders.push(folder);
  const formbridge = await createFormBridge({
    settings: { FORMBRIDGE_DATA: folder.path, FORMBRIDGE_PORT: "0", FORMBRIDGE_LOG_LEVEL: "silent", ...settings },
  });
  running.push(formbridge);
  return formbridge;
}

const createOn = ({ url }: { url: string }): Promise<Response> =>
  fetch(`${url}/intakes/contact/submissions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ actor: { kind: "agent", id: "bot" } }),
  });

describe("a scrape", () => {
  it("[OBSERVE-SCRAPE-KEY] finds nothing unless a setting opens it", async () => {
    const formbridge = await open();
    expect((await fetch(`${formbridge.url}/metrics`)).status).toBe(404);
    expect(formbridge.metricsUrl).toBeUndefined();
  });

  it("[OBSERVE-SCRAPE-KEY] needs the key on the server's own port", async () => {
    const formbridge = await open({ FORMBRIDGE_METRICS_KEY: "a-key-for-scrapes" });
    await createOn(formbridge);
    const scrape = (headers: Record<string, string> = {}) => fetch(`${formbridge.url}/metrics`, { headers });
    expect((await scrape()).status).toBe(401);
    expect((await scrape({ authorization: `Bearer ${formbridge.adminKey}` })).status).toBe(401);
    const answer = await scrape({ authorization: "Bearer a-key-for-scrapes" });
    expect(answer.headers.get("content-type")).toContain("text/plain; version=0.0.4");
    expect(await answer.text()).toMatch(/formbridge_token_created_count_total\{intake_id="contact"\} 1/);
  });

  it("has a port of its own on loopback, which has nothing else", async () => {
    const formbridge = await open({ FORMBRIDGE_METRICS_PORT: "0" });
    await createOn(formbridge);
    const { metricsUrl = "" } = formbridge;
    expect(new URL(metricsUrl).hostname).toBe("127.0.0.1");
    const text = await (await fetch(metricsUrl)).text();
    expect(text).toMatch(/formbridge_build_info\{version="[^"]+",role="embedded"\} 1/);
    expect((await fetch(new URL("/", metricsUrl))).status).toBe(404);
    expect((await fetch(`${formbridge.url}/metrics`)).status).toBe(404);
  });
});

it("[OBSERVE-SETTINGS] an invalid setting stops the start with an explanation", async () => {
  const wrong = {
    FORMBRIDGE_METRICS_KEY: "short",
    FORMBRIDGE_METRICS_PORT: "70000",
    FORMBRIDGE_METRICS_LABEL_LIMIT: "0",
    FORMBRIDGE_OTLP_ENDPOINT: "localhost:4318",
    FORMBRIDGE_OTLP_HEADERS: "no pairs",
    FORMBRIDGE_LOG_FORMAT: "xml",
    FORMBRIDGE_TRACES_RATIO: "2",
    FORMBRIDGE_OTLP_TRACES_INTERVAL_MS: "often",
  };
  await expect(open({ FORMBRIDGE_TRACES_RATIO: "0.1" })).rejects.toThrow(/it takes FORMBRIDGE_OTLP_ENDPOINT/);
  for (const [name, value] of Object.entries(wrong)) {
    const more = name === "FORMBRIDGE_OTLP_HEADERS" ? { FORMBRIDGE_OTLP_ENDPOINT: "http://127.0.0.1:1" } : {};
    await expect(open({ ...more, [name]: value }), name).rejects.toThrow(new RegExp(`${name}.*it takes`));
  }
});

describe("a push", () => {
  it("[OBSERVE-PUSH] brings metrics to a collector, with its headers", async () => {
    const arrived: { path: string; key: string | undefined; bytes: number }[] = [];
    const collector = createServer((request, response) => {
      let bytes = 0;
      request.on("data", (part: Buffer) => (bytes += part.length));
      request.on("end", () => {
        arrived.push({ path: request.url ?? "", key: request.headers["x-key"] as string | undefined, bytes });
        response.writeHead(200).end();
      });
    });
    const endpoint = await listening(collector);
    await open({
      FORMBRIDGE_OTLP_ENDPOINT: endpoint,
      FORMBRIDGE_OTLP_HEADERS: "x-key=a%20b",
      FORMBRIDGE_OTLP_METRICS_INTERVAL_MS: "50",
    });
    const [first] = await until(() => (arrived.length > 0 ? arrived : undefined));
    expect(first).toMatchObject({ path: "/v1/metrics", key: "a b" });
    expect(first?.bytes).toBeGreaterThan(500);
  });

  it.each(["hangs", "is down"])(
    "[OBSERVE-PUSH] to a collector that %s slows nobody down, and the server still stops",
    async (how) => {
      const silent = createServer(() => {});
      const endpoint = await listening(silent);
      if (how === "is down") await new Promise((resolve) => silent.close(resolve));
      const formbridge = await open({ FORMBRIDGE_OTLP_ENDPOINT: endpoint, FORMBRIDGE_OTLP_METRICS_INTERVAL_MS: "20" });
      for (let call = 0; call < 20; call++) expect((await createOn(formbridge)).status).toBe(201);
      const began = performance.now();
      await formbridge.stop();
      running.splice(running.indexOf(formbridge), 1);
      expect(performance.now() - began).toBeLessThan(8_000);
    },
  );
});

it("[OBSERVE-PUSH] a collector that refuses is one line in the log, and one more when it accepts again", async () => {
  let status = 500;
  const pushes: string[] = [];
  const collector = createServer((request, response) => {
    request.resume().on("end", () => {
      pushes.push(`${status} ${request.url}`);
      response.writeHead(status).end();
    });
  });
  const endpoint = await listening(collector);
  const folder = tempFolder();
  folders.push(folder);
  const server = await startServerProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_OTLP_ENDPOINT: endpoint,
    FORMBRIDGE_OTLP_METRICS_INTERVAL_MS: "20",
    FORMBRIDGE_OTLP_TRACES_INTERVAL_MS: "20",
    FORMBRIDGE_TRACES_RATIO: "1",
  });
  running.push(server);
  const linesAbout = (event: string): string[] =>
    server
      .output()
      .split("\n")
      .filter((line) => line.includes(`"event":"${event}"`));
  const createsUntil = (isEnough: () => boolean) =>
    until(async () => {
      expect((await createOn(server)).status).toBe(201);
      return isEnough() || undefined;
    });
  const count = (push: string): number => pushes.filter((one) => one === push).length;
  await createsUntil(() => count("500 /v1/metrics") > 2 && count("500 /v1/traces") > 2);
  status = 200;
  await createsUntil(() => count("200 /v1/metrics") > 2 && linesAbout("otlp.working").length === 2);
  const about = (lines: string[]) => lines.map((line) => JSON.parse(line)).map(({ level, what }) => `${level} ${what}`);
  expect(about(linesAbout("otlp.failed")).sort()).toEqual(["warn metrics", "warn traces"]);
  expect(about(linesAbout("otlp.working")).sort()).toEqual(["info metrics", "info traces"]);
}, 60_000);

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  running.push({
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("[OBSERVE-METRICS] formbridge mcp exports too", async () => {
  const folder = tempFolder();
  folders.push(folder);
  const key = "a-key-for-scrapes";
  const host = await startMcpProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_METRICS_PORT: "0",
    FORMBRIDGE_METRICS_KEY: key,
  });
  running.push(host);
  const [, url = ""] = await until(() => /"metricsUrl":"([^"]+)"/.exec(host.stderr()) ?? undefined, 30_000);
  await host.create("contact", { name: "Ada" });
  const text = await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text();
  expect(text).toContain('role="mcp"');
  expect(text).toMatch(/formbridge_mcp_call_duration_seconds_count\{tool="[^"]+",outcome="success"\} 1/);
}, 60_000);

it("[OBSERVE-METRICS] formbridge worker exports too", async () => {
  const folder = tempFolder();
  folders.push(folder);
  const database = await createMigratedDatabase();
  const worker = start(["worker"], {
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_DATABASE_URL: database.url,
    FORMBRIDGE_SECRET: "the secret of a worker with metrics",
    FORMBRIDGE_METRICS_PORT: "0",
  });
  running.push({
    async stop() {
      worker.child.kill();
      await worker.finished;
      await database.drop();
    },
  });
  const url = await until(() => /Metrics: (\S+)/.exec(worker.stdout())?.[1], 60_000);
  expect(await (await fetch(url)).text()).toMatch(/formbridge_build_info\{[^}]*role="worker"[^}]*\} 1/);
}, 90_000);

it("[OBSERVE-LOOKUP-TIME] a token look-up may take a second, unless a setting says otherwise", () => {
  const lookupMs = (env: Record<string, string>): number => readConfig(env).settings.tokenLookupMs;
  expect([lookupMs({}), lookupMs({ FORMBRIDGE_TOKEN_LOOKUP_TIMEOUT_MS: "250" })]).toEqual([1_000, 250]);
  expect(() => lookupMs({ FORMBRIDGE_TOKEN_LOOKUP_TIMEOUT_MS: "0" })).toThrow(/FORMBRIDGE_TOKEN_LOOKUP_TIMEOUT_MS/);
});
