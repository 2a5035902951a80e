/** A real Prometheus scrapes an embedded server, as after `npm start` with the settings of docs/how-to/observe.md. */
import { join } from "node:path";
import { METRICS, type MetricSpec } from "@formbridge/telemetry";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ALERTS, hastyRules } from "../ops/hasty-rules.ts";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import { until } from "../support/moves.ts";
import { type Prometheus, startPrometheus } from "../support/services/start-prometheus.ts";
import { ADMIN_KEY, createDay, type Receiver, startReceiver } from "./day.ts";

/** What an embedded store doesn't have: look-ups that can wait, a cache, a pool, locks in Redis, another clock. */
const NOT_HERE: readonly string[] = [
  "formbridge_token_validation_timeout_total",
  "formbridge_token_store_cache_hit_total",
  "formbridge_token_store_cache_miss_total",
  "formbridge_idempotency_storage_connection_pool_exhausted_total",
  "formbridge_idempotency_lock_abandoned_total",
  "formbridge_clock_skew_seconds",
];
const QUIET_HERE: readonly string[] = [
  "ClockSkew",
  // Needs 25,000 pending notes, and a store that can be read but not written.
  "AuditNotesLost",
  // Look-ups don't wait for writers.
  "TokenValidationHighLatency",
  "IdempotencyPoolExhausted",
  "IdempotencyLocksAbandoned",
  "SloTokenValidationLatencyBurnsFast",
  "SloTokenValidationLatencyBurnsSlowly",
  "SloTokenValidationLatencyBudgetNearlySpent",
];

const folder = tempFolder();
let receiver: Receiver;
let server: ServerProcess;
let prometheus: Prometheus;

async function wasSeen(name: string): Promise<boolean> {
  const [metric = ""] = name.split("{");
  const { kind }: MetricSpec = METRICS[metric as keyof typeof METRICS];
  const series = kind === "histogram" ? `${name}_count` : name;
  const found = await prometheus.query(`max_over_time(${series}[10m]) != 0`);
  return found.length > 0;
}

const seen = async (name: string): Promise<void> => {
  await until(async () => ((await wasSeen(name)) ? true : undefined), 30_000);
};

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServerProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_SWEEP_INTERVAL_MS: "100",
    FORMBRIDGE_AUDIT_FLUSH_MS: "100",
    FORMBRIDGE_KEY_WAIT_MS: "400",
    FORMBRIDGE_RATE_CREATES_PER_ADDRESS: "100000",
    FORMBRIDGE_WORKER: "on",
    FORMBRIDGE_CLOCK_SKEW_MS: "0",
    FORMBRIDGE_ALLOW_TEST_HEADERS: "1",
    FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1",
    FORMBRIDGE_NOTIFY_URL: `${receiver.url}/taken`,
    FORMBRIDGE_TOKEN_STORE_MAX: "1",
    FORMBRIDGE_METRICS_PORT: "0",
    FORMBRIDGE_METRICS_LOOK_MS: "200",
  });
  const [, url = ""] = await until(() => /Metrics: (\S+)/.exec(server.stdout()) ?? undefined);
  prometheus = await startPrometheus([{ job: "formbridge", url }], hastyRules);
}, 120_000);

afterAll(async () => {
  await prometheus?.stop();
  await server?.kill();
  await receiver?.stop();
  folder.remove();
});

it("[OBSERVE-METRICS] an embedded server shows every metric that doesn't take another server to break", async () => {
  const day = createDay({ server, receiver, seen, isSeen: wasSeen });
  await day.intakes();
  await day.submissions();
  await day.keys();
  await day.relapses();
  await day.deliveries();
  await day.uploads();
  await day.callers();
  await day.lockedFile(join(folder.path, "formbridge.db"));
  const unseen = async () => {
    const looks = await Promise.all(Object.keys(METRICS).map(async (name) => ({ name, isSeen: await wasSeen(name) })));
    return looks.filter(({ isSeen }) => !isSeen).map(({ name }) => name);
  };
  await expect.poll(unseen).toEqual(NOT_HERE);
}, 120_000);

it("[OPS-ALERTS] every alert that can concern an embedded server fires on a real fault", async () => {
  const quiet = async () => {
    const fired = await prometheus.query('max_over_time(ALERTS{alertstate="firing"}[10m])');
    const names = new Set(fired.map(({ labels }) => labels.alertname));
    return ALERTS.filter((alert) => !names.has(alert));
  };
  await expect.poll(quiet).toEqual(QUIET_HERE);
});
