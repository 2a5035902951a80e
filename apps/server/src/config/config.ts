import { join, resolve } from "node:path";
import type { Issuer, KeyTimes } from "@formbridge/auth-jwt";
import type { Settings } from "@formbridge/core";
import type { SmtpOptions } from "@formbridge/outbound";
import { parseRedisUrl, REDIS_URLS, type RedisAddress } from "@formbridge/store-redis";
import { countryHeaderOf } from "./alarm-settings.ts";
import { type Backends, backendsOf } from "./backends.ts";
import { readIssuers } from "./jwt-issuers.ts";
import { mailOf } from "./mail.ts";
import { type McpChoice, mcpOf } from "./mcp-settings.ts";
import { type OaiChoice, oaiOf } from "./oai-settings.ts";
import { operationSettings } from "./operation-settings.ts";
import { bad, ConfigError, createReader, type Env, isWebUrl, type Reader } from "./reader.ts";
import { type TelemetryChoice, telemetryOf } from "./telemetry-settings.ts";
import { type UploadsChoice, uploadsOf } from "./upload-settings.ts";

export type DatabaseChoice =
  | { kind: "sqlite"; file: string }
  | { kind: "memory" }
  | {
      kind: "postgres";
      url: string;
      directUrl?: string;
      poolSize: number;
      connectTimeoutMs: number;
      statementTimeoutMs: number;
      lockTimeoutMs: number;
    };

export interface RedisChoice {
  address: RedisAddress;
  prefix: string;
  timeoutMs: number;
  /** How long a lock outlives an instance that died. */
  lockMs: number;
}

export interface Config {
  host: string;
  port: number;
  dataFolder: string;
  database: DatabaseChoice;
  redis?: RedisChoice;
  backends: Backends;
  publicUrl?: string;
  secrets: string[];
  adminKey?: string;
  uploads: UploadsChoice;
  jwt: { issuers: Issuer[]; keys: KeyTimes & { timeoutMs: number } };
  /** Absent: no e-mail is sent. */
  mail?: SmtpOptions;
  /** Absent: no operator's webhook is called. */
  notifyUrl?: string;
  intakesFolder: string;
  archiveFolder: string;
  logLevel: string;
  telemetry: TelemetryChoice;
  trustProxy: boolean;
  countryHeader?: string;
  allowTestHeaders: boolean;
  staging: boolean;
  /** The API key of the probe. */
  probeKey?: string;
  mcp: McpChoice;
  oai: OaiChoice;
  delivery: {
    timeoutMs: number;
    /** Whether deliveries may go to the operator's own networks. */
    allowPrivate: boolean;
  };
  jobs: {
    /** Whether `serve` runs jobs itself. */
    runHere: boolean;
    atOnce: number;
    perLane: number;
    leaseMs: number;
    pollMs: number;
  };
  webhooksAtOnce: number;
  sweepIntervalMs: number;
  auditFlushMs: number;
  pageTokenTtlMs: number;
  limits: {
    maxBodyBytes: number;
    maxDepth: number;
    maxKeys: number;
    maxHeaderBytes: number;
    requestTimeoutMs: number;
    stopGraceMs: number;
  };
  settings: Settings;
}

/** The only place that reads the environment. */
export function readConfig(env: Env = process.env): Config {
  const read = createReader(env);
  const dataFolder = resolve(read.text("FORMBRIDGE_DATA"));
  const publicUrl = read.checked("FORMBRIDGE_PUBLIC_URL", URL.canParse, "a URL");
  const adminKey = read.checked("FORMBRIDGE_ADMIN_KEY", isAdminKey, "8 to 200 printable characters without space");
  const probeKey = read.optional("FORMBRIDGE_PROBE_KEY");
  const database = databaseOf(read, dataFolder);
  const redis = redisOf(read);
  const mail = mailOf(read);
  const notifyUrl = read.checked("FORMBRIDGE_NOTIFY_URL", isWebUrl, "an http: or https: URL");
  const secrets = secretsOf(read.optional("FORMBRIDGE_SECRET"));
  if (database.kind === "postgres" && secrets.length === 0) {
    throw new ConfigError(
      "FORMBRIDGE_SECRET is not set; with PostgreSQL it must be, because all instances on one database share it.",
    );
  }
  return {
    host: read.text("FORMBRIDGE_HOST"),
    port: read.number("FORMBRIDGE_PORT", { max: 65_535 }),
    dataFolder,
    database,
    ...(redis !== undefined && { redis }),
    backends: backendsOf(read, { database: database.kind, hasRedis: redis !== undefined }),
    ...(publicUrl !== undefined && { publicUrl: publicUrl.replace(/\/$/, "") }),
    secrets,
    ...(adminKey !== undefined && { adminKey }),
    uploads: uploadsOf(read, dataFolder),
    jwt: jwtOf(read),
    ...(mail !== undefined && { mail }),
    ...(notifyUrl !== undefined && { notifyUrl }),
    intakesFolder: resolve(read.text("FORMBRIDGE_INTAKES")),
    archiveFolder: resolve(read.optional("FORMBRIDGE_ARCHIVE") ?? join(dataFolder, "archive")),
    logLevel: read.oneOf("FORMBRIDGE_LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    telemetry: telemetryOf(read),
    trustProxy: read.flag("FORMBRIDGE_TRUST_PROXY"),
    ...countryHeaderOf(read),
    allowTestHeaders: read.flag("FORMBRIDGE_ALLOW_TEST_HEADERS"),
    staging: read.isOn("FORMBRIDGE_STAGING"),
    ...(probeKey !== undefined && { probeKey }),
    mcp: mcpOf(read, { host: read.text("FORMBRIDGE_HOST"), publicUrl }),
    oai: oaiOf(read),
    delivery: deliveryOf(read),
    jobs: {
      runHere: read.isOn("FORMBRIDGE_WORKER"),
      atOnce: read.number("FORMBRIDGE_JOBS_AT_ONCE", { min: 1 }),
      perLane: read.number("FORMBRIDGE_JOBS_PER_LANE", { min: 1 }),
      leaseMs: read.number("FORMBRIDGE_JOB_LEASE_MS", { min: 1_000 }),
      pollMs: read.number("FORMBRIDGE_JOB_POLL_MS", { min: 1 }),
    },
    webhooksAtOnce: read.number("FORMBRIDGE_WEBHOOKS_AT_ONCE", { min: 1 }),
    sweepIntervalMs: read.number("FORMBRIDGE_SWEEP_INTERVAL_MS", { min: 10 }),
    auditFlushMs: read.number("FORMBRIDGE_AUDIT_FLUSH_MS", { min: 10 }),
    pageTokenTtlMs: read.number("FORMBRIDGE_PAGE_TOKEN_TTL_MS", { min: 1000 }),
    limits: {
      maxBodyBytes: read.number("FORMBRIDGE_MAX_BODY_BYTES", { min: 1 }),
      maxDepth: read.number("FORMBRIDGE_MAX_DEPTH", { min: 1, max: 1000 }),
      maxKeys: read.number("FORMBRIDGE_MAX_KEYS", { min: 1 }),
      maxHeaderBytes: read.number("FORMBRIDGE_MAX_HEADER_BYTES", { min: 1024 }),
      requestTimeoutMs: read.number("FORMBRIDGE_REQUEST_TIMEOUT_MS", { min: 100 }),
      stopGraceMs: read.number("FORMBRIDGE_STOP_GRACE_MS"),
    },
    settings: operationSettings(read),
  };
}

const isAdminKey = (text: string): boolean => /^[\x21-\x7e]{8,200}$/.test(text);

/** The same environment with another database, and without the direct URL, which leads to the first one. */
export const readConfigOn = (databaseUrl: string): Config =>
  readConfig({ ...process.env, FORMBRIDGE_DATABASE_URL: databaseUrl, FORMBRIDGE_DATABASE_DIRECT_URL: "" });

function deliveryOf(read: Reader): Config["delivery"] {
  const timeoutMs = read.number("FORMBRIDGE_DELIVERY_TIMEOUT_MS", { min: 1 });
  // With a longer timeout, another worker would claim the delivery while this one still waits for the receiver.
  if (timeoutMs >= read.number("FORMBRIDGE_JOB_LEASE_MS")) {
    throw bad("FORMBRIDGE_DELIVERY_TIMEOUT_MS", String(timeoutMs), "less than FORMBRIDGE_JOB_LEASE_MS");
  }
  return { timeoutMs, allowPrivate: read.flag("FORMBRIDGE_ALLOW_PRIVATE_TARGETS") };
}

function jwtOf(read: Reader): Config["jwt"] {
  return {
    issuers: issuersOf(read.optional("FORMBRIDGE_JWT_ISSUERS")),
    keys: {
      timeoutMs: read.number("FORMBRIDGE_JWKS_TIMEOUT_MS", { min: 1, max: 600_000 }),
      cooldownMs: read.number("FORMBRIDGE_JWKS_COOLDOWN_MS"),
      maxAgeMs: read.number("FORMBRIDGE_JWKS_MAX_AGE_MS"),
      staleMs: read.number("FORMBRIDGE_JWKS_STALE_MS"),
    },
  };
}

function issuersOf(text: string | undefined): Issuer[] {
  try {
    return text === undefined ? [] : readIssuers(text);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    const takes = "it takes a JSON array of issuers, or a file that holds one (docs/how-to/jwt.md)";
    throw new ConfigError(`FORMBRIDGE_JWT_ISSUERS: ${words}; ${takes}.`);
  }
}

function databaseOf(read: Reader, dataFolder: string): DatabaseChoice {
  const url = read.optional("FORMBRIDGE_DATABASE_URL");
  if (url === undefined) return { kind: "sqlite", file: join(dataFolder, "formbridge.db") };
  if (url === "memory:") return { kind: "memory" };
  const file = /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
  if (file !== undefined) return { kind: "sqlite", file: resolve(file) };
  if (isPostgres(url)) return { kind: "postgres", url, ...directOf(read), ...poolOf(read) };
  throw bad("FORMBRIDGE_DATABASE_URL", url, "sqlite:<file>, postgres://<user>:<password>@<host>/<name> or memory:");
}

const isPostgres = (url: string): boolean => /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url);

function directOf(read: Reader): { directUrl?: string } {
  const takes = "postgres://<user>:<password>@<host>/<name> of the same database";
  const directUrl = read.checked("FORMBRIDGE_DATABASE_DIRECT_URL", isPostgres, takes);
  return directUrl === undefined ? {} : { directUrl };
}

const poolOf = (read: Reader) => ({
  poolSize: read.number("FORMBRIDGE_DATABASE_POOL_SIZE", { min: 1, max: 1000 }),
  connectTimeoutMs: read.number("FORMBRIDGE_DATABASE_CONNECT_TIMEOUT_MS", { min: 1 }),
  statementTimeoutMs: read.number("FORMBRIDGE_DATABASE_STATEMENT_TIMEOUT_MS", { min: 1 }),
  lockTimeoutMs: read.number("FORMBRIDGE_DATABASE_LOCK_TIMEOUT_MS", { min: 1 }),
});

function redisOf(read: Reader): RedisChoice | undefined {
  const url = read.optional("FORMBRIDGE_REDIS_URL");
  if (url === undefined) return undefined;
  const address = parseRedisUrl(url);
  if (address === undefined) throw bad("FORMBRIDGE_REDIS_URL", url, REDIS_URLS);
  const prefix = read.text("FORMBRIDGE_REDIS_PREFIX");
  if (!/^[\w.:-]{1,64}$/.test(prefix)) {
    throw bad("FORMBRIDGE_REDIS_PREFIX", prefix, "1 to 64 letters, digits, and . : _ -");
  }
  return {
    address,
    prefix,
    timeoutMs: read.number("FORMBRIDGE_REDIS_TIMEOUT_MS", { min: 1 }),
    lockMs: read.number("FORMBRIDGE_REDIS_LOCK_MS", { min: 100 }),
  };
}

const MIN_SECRET = 16;

function secretsOf(text: string | undefined): string[] {
  const secrets = text?.split(",").map((secret) => secret.trim()) ?? [];
  if (secrets.some((secret) => secret.length < MIN_SECRET)) {
    throw bad("FORMBRIDGE_SECRET", text ?? "", `at least ${MIN_SECRET} characters each`);
  }
  return secrets;
}
