/** A real Prometheus scrapes a server on PostgreSQL and Redis through a day on which everything happens once. */
import { METRICS, type MetricSpec } from "@formbridge/telemetry";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ALERTS, hastyRules } from "../ops/hasty-rules.ts";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import { until } from "../support/moves.ts";
import { type OwnPostgres, ownPostgres } from "../support/services/own-postgres.ts";
import { newPrefix, type OwnRedis, ownRedis } from "../support/services/redis.ts";
import { type Prometheus, startPrometheus } from "../support/services/start-prometheus.ts";
import { shiftedClock } from "../support/shifted-clock.ts";
import { ADMIN_KEY, createDay, type Receiver, startReceiver } from "./day.ts";

const KEY = "a key for scrapes only".replaceAll(" ", "-");
const folder = tempFolder();
let postgres: OwnPostgres;
let redis: OwnRedis;
let receiver: Receiver;
let server: ServerProcess;
let prometheus: Prometheus;

/** The series to query for a metric, whose name may come with labels. */
const seriesOf = (name: string): string => {
  const [metric = ""] = name.split("{");
  const { kind }: MetricSpec = METRICS[metric as keyof typeof METRICS];
  return kind === "histogram" ? `${name}_count` : name;
};

/** Whether it ever had a value other than zero. */
async function wasSeen(name: string): Promise<boolean> {
  const series = seriesOf(name);
  const found = await Promise.all(["max", "min"].map((end) => prometheus.query(`${end}_over_time(${series}[10m])`)));
  return found.flat().some(({ value }) => value !== 0);
}

const seen = (name: string): Promise<void> =>
  until(async () => ((await wasSeen(name)) ? true : undefined), 30_000).then(
    () => undefined,
    () => Promise.reject(new Error(`${name} was not seen`)),
  );

beforeAll(async () => {
  [postgres, redis, receiver] = await Promise.all([ownPostgres(), ownRedis(), startReceiver()]);
  server = await startServerProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_DATABASE_URL: postgres.url,
    FORMBRIDGE_SECRET: "the secret of one day in the life of a server",
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_REDIS_URL: redis.url,
    FORMBRIDGE_REDIS_PREFIX: newPrefix(),
    FORMBRIDGE_TOKEN_BACKEND: "hybrid",
    FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis",
    FORMBRIDGE_REDIS_LOCK_MS: "300",
    FORMBRIDGE_DATABASE_POOL_SIZE: "3",
    FORMBRIDGE_DATABASE_LOCK_TIMEOUT_MS: "9000",
    FORMBRIDGE_TOKEN_LOOKUP_TIMEOUT_MS: "700",
    FORMBRIDGE_TOKEN_STORE_MAX: "1",
    FORMBRIDGE_KEY_WAIT_MS: "400",
    FORMBRIDGE_SWEEP_INTERVAL_MS: "100",
    FORMBRIDGE_AUDIT_FLUSH_MS: "100",
    FORMBRIDGE_JOB_POLL_MS: "50",
    FORMBRIDGE_WORKER: "on",
    FORMBRIDGE_CLOCK_SKEW_MS: "0",
    FORMBRIDGE_ALLOW_TEST_HEADERS: "1",
    FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1",
    FORMBRIDGE_NOTIFY_URL: `${receiver.url}/taken`,
    FORMBRIDGE_METRICS_KEY: KEY,
    FORMBRIDGE_METRICS_LOOK_MS: "200",
    ...shiftedClock("+20s"),
  });
  prometheus = await startPrometheus([{ job: "formbridge", url: `${server.url}/metrics`, key: KEY }], hastyRules);
}, 120_000);

afterAll(async () => {
  await prometheus?.stop();
  await server?.kill();
  await Promise.all([postgres?.remove(), redis?.remove(), receiver?.stop()]);
  folder.remove();
});

it("[OBSERVE-METRICS] [OBSERVE-LOOKUP-TIME] every metric of the reference is seen with a value that is not zero", async () => {
  const day = createDay({ server, stores: { postgres, redis }, receiver, seen, isSeen: wasSeen });
  await day.intakes();
  await day.submissions();
  await day.keys();
  await day.relapses();
  await day.deliveries();
  await day.uploads();
  await day.slowDatabase();
  await day.forgetfulRedis();
  await day.callers();
  await day.brokenDatabase();
  let unseen = Object.keys(METRICS);
  await until(async () => {
    const looks = await Promise.all(unseen.map(async (name) => ({ name, isSeen: await wasSeen(name) })));
    unseen = looks.filter(({ isSeen }) => !isSeen).map(({ name }) => name);
    return unseen.length === 0 || undefined;
  }, 20_000).catch(() => {});
  expect(unseen).toEqual([]);
  expect(server.output()).toMatch(/"event":"clock\.skew"/);
}, 180_000);

/** Needs 25,000 pending notes, and a store that can be read but not written. */
const TOO_LARGE_A_FAULT = "AuditNotesLost";

it("[OPS-ALERTS] every alert fires on a real fault", async () => {
  const fired = async () => {
    const found = await prometheus.query('max_over_time(ALERTS{alertstate="firing"}[10m])');
    return new Set(found.map(({ labels }) => labels.alertname));
  };
  const quiet = async () => {
    const names = await fired();
    return ALERTS.filter((alert) => !names.has(alert));
  };
  await expect.poll(quiet).toEqual([TOO_LARGE_A_FAULT]);
});
