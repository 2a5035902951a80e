import { DEFAULT_POLICY, DEFAULT_RATE_RULES } from "@formbridge/core";

type Kind = "text" | "number" | "flag" | "rate";

/** A setting: its variable, what it takes, its default, and what it does. */
export interface Setting {
  kind: Kind;
  /** A second name, which many platforms set. */
  alias?: string;
  fallback?: string | number | boolean;
  secret?: true;
  help: string;
}

const { failedLookupsPerSecond, failedLookupsPerMinute, createsPerKey, createsPerAddress, codeAttempts, mails } =
  DEFAULT_RATE_RULES;

const ms = (fallback: number, help: string): Setting => ({
  kind: "number",
  fallback,
  help: `${help}, in milliseconds`,
});
const count = (fallback: number, help: string): Setting => ({ kind: "number", fallback, help });

const alarm = (fallback: string, what: string): Setting => ({
  kind: "text",
  fallback,
  help: `trips on more ${what} within a time: count/time, or off`,
});

/** All settings. `formbridge serve --help` prints this table. */
export const SETTINGS = {
  FORMBRIDGE_HOST: { kind: "text", fallback: "127.0.0.1", help: "address to listen on" },
  FORMBRIDGE_PORT: { kind: "number", alias: "PORT", fallback: 3000, help: "port to listen on; 0 takes a free one" },
  FORMBRIDGE_DATA: { kind: "text", fallback: ".formbridge", help: "folder of the embedded database and the secret" },
  FORMBRIDGE_DATABASE_URL: {
    kind: "text",
    alias: "DATABASE_URL",
    help: "sqlite:<file>, postgres://<user>:<password>@<host>/<name> or memory: (default: sqlite in the data folder)",
  },
  FORMBRIDGE_DATABASE_DIRECT_URL: {
    kind: "text",
    help: "postgres:// URL of the same database, around a pooler in transaction mode; set it if FORMBRIDGE_DATABASE_URL leads to one (default: none)",
  },
  FORMBRIDGE_DATABASE_POOL_SIZE: count(
    10,
    "connections that a process opens to PostgreSQL, besides one for notifications",
  ),
  FORMBRIDGE_DATABASE_CONNECT_TIMEOUT_MS: ms(5_000, "how long a call waits for a connection to PostgreSQL"),
  FORMBRIDGE_DATABASE_STATEMENT_TIMEOUT_MS: ms(10_000, "how long a statement may take in PostgreSQL"),
  FORMBRIDGE_DATABASE_LOCK_TIMEOUT_MS: ms(5_000, "how long a write waits in PostgreSQL for a lock on its row or key"),
  FORMBRIDGE_REDIS_URL: {
    kind: "text",
    alias: "REDIS_URL",
    help: "redis://[<user>:<password>@]<host>[:<port>][/<database>], rediss:// with TLS, redis-cluster://<host>:<port>,<host>:<port> for Redis Cluster, redis-sentinel://<host>:<port>,<host>:<port>/<primary>[/<database>] for Redis Sentinel: shares rate limits and notifications between instances (default: none)",
  },
  FORMBRIDGE_REDIS_PREFIX: {
    kind: "text",
    fallback: "formbridge",
    help: "prefix of all keys in Redis; use a different one for each deployment that shares it",
  },
  FORMBRIDGE_REDIS_TIMEOUT_MS: ms(500, "how long a call waits for Redis"),
  FORMBRIDGE_REDIS_LOCK_MS: ms(
    10_000,
    "how long an idempotency key stays locked after the instance that locked it died",
  ),
  FORMBRIDGE_TOKEN_BACKEND: {
    kind: "text",
    help: "what looks up tokens: sql, redis, hybrid (Redis, or the database if Redis is down) or memory (default: the database)",
  },
  FORMBRIDGE_IDEMPOTENCY_BACKEND: {
    kind: "text",
    help: "what queues requests with the same idempotency key: sql, redis or memory (default: the database)",
  },
  FORMBRIDGE_PUBLIC_URL: {
    kind: "text",
    help: "the URL under which callers reach the server (default: host and port)",
  },
  FORMBRIDGE_MCP: { kind: "text", fallback: "on", help: "on or off: serve the agent protocol at /mcp" },
  FORMBRIDGE_MCP_TOOLS: {
    kind: "text",
    fallback: "auto",
    help: "which tools are listed for agents: auto (a create tool for each of up to 12 intakes, and one set of verbs for all), intake (also every intake's own verbs) or generic (one set for all); unlisted tools can still be called",
  },
  FORMBRIDGE_MCP_HOSTS: {
    kind: "text",
    help: "host names under which /mcp may be called, besides localhost and those in FORMBRIDGE_HOST and FORMBRIDGE_PUBLIC_URL, separated by commas (default: none)",
  },
  FORMBRIDGE_MCP_ORIGINS: {
    kind: "text",
    help: "origins whose pages may call /mcp, besides that of FORMBRIDGE_PUBLIC_URL, separated by commas (default: none)",
  },
  FORMBRIDGE_MCP_ASK_TIMEOUT_MS: ms(
    45_000,
    "how long a host of an older revision has to ask its user; after that the call continues without an answer",
  ),
  FORMBRIDGE_MCP_KEY: {
    kind: "text",
    secret: true,
    help: "API key for formbridge mcp (default: its own key if it opens the store itself, otherwise none)",
  },
  FORMBRIDGE_PROBE_KEY: {
    kind: "text",
    secret: true,
    help: "API key for formbridge probe and formbridge chaos (default: none, for public intakes)",
  },
  FORMBRIDGE_STAGING: {
    kind: "text",
    fallback: "off",
    help: "on or off: say in /healthz that this is a staging server, on which formbridge chaos may run",
  },
  FORMBRIDGE_SECRET: {
    kind: "text",
    secret: true,
    help: "secret that all sealing and signing keys are derived from; several, newest first, separated by commas (default: generated and kept in the data folder; required with PostgreSQL)",
  },
  FORMBRIDGE_ADMIN_KEY: {
    kind: "text",
    secret: true,
    help: "preset admin key (default: one is generated and printed on the first start)",
  },
  FORMBRIDGE_JWT_ISSUERS: {
    kind: "text",
    help: "issuers whose JWTs are accepted: a JSON array, or a file that contains one (default: API keys only)",
  },
  FORMBRIDGE_JWKS_TIMEOUT_MS: ms(5_000, "how long fetching an issuer's keys may take"),
  FORMBRIDGE_JWKS_COOLDOWN_MS: ms(30_000, "minimum time between two fetches of an issuer's keys"),
  FORMBRIDGE_JWKS_MAX_AGE_MS: ms(600_000, "after this time an issuer's keys are fetched again"),
  FORMBRIDGE_JWKS_STALE_MS: ms(86_400_000, "how much longer they are used while the issuer is down"),
  FORMBRIDGE_SMTP_URL: {
    kind: "text",
    secret: true,
    help: "mail server: smtp://[<user>:<password>@]<host>[:<port>] with STARTTLS where offered, smtps:// with TLS (default: no e-mail)",
  },
  FORMBRIDGE_MAIL_FROM: {
    kind: "text",
    help: "sender of mail: an address, or Name <address>; required with FORMBRIDGE_SMTP_URL",
  },
  FORMBRIDGE_NOTIFY_URL: {
    kind: "text",
    secret: true,
    help: "webhook of yours that is notified of reviews, escalations, rejections, finalized submissions, expiry warnings and security incidents (default: none)",
  },
  FORMBRIDGE_SMTP_TIMEOUT_MS: ms(20_000, "how long the mail server may take for one mail"),
  FORMBRIDGE_ALARMS: { kind: "text", fallback: "on", help: "security alarms, those of intakes too: on or off" },
  FORMBRIDGE_ALARM_TOKEN_SHARED: alarm("3/5m", "addresses that use one token"),
  FORMBRIDGE_ALARM_TOKEN_ENUMERATION: alarm("100/1m", "submissions whose tokens one address uses"),
  FORMBRIDGE_ALARM_FAILED_LOOKUPS: alarm("50/5m", "unknown tokens that one address presents"),
  FORMBRIDGE_ALARM_EXPIRED_TOKEN_REUSED: alarm("5/1h", "uses of one expired token"),
  FORMBRIDGE_ALARM_EXPIRED_TOKENS_PROBED: alarm("5/1h", "expired tokens that one address uses"),
  FORMBRIDGE_ALARM_SUBMISSION_CONFLICTS: alarm("10/1h", "conflicts of one submission"),
  FORMBRIDGE_ALARM_DORMANT_TOKEN: {
    kind: "text",
    fallback: "14d",
    help: "trips when a token is used that nobody has used for longer: a time, or off",
  },
  FORMBRIDGE_ALARM_COUNTRY_CHANGED: {
    kind: "text",
    fallback: "1d",
    help: "trips when a token is used in another country than it was created in, at most once in this time; or off",
  },
  FORMBRIDGE_ALARM_AGENT_AFTER_HANDOFF: {
    kind: "text",
    fallback: "1m",
    help: "trips when an agent writes sooner than this after a human took over: a time, or off",
  },
  FORMBRIDGE_ALARM_RESPONSES: {
    kind: "text",
    help: "what the server does by itself: <alarm>:<response>+<response>, separated by commas; responses are revoke, reissue, block, notify_creator (default: none)",
  },
  FORMBRIDGE_ALARM_BLOCK_MS: ms(3_600_000, "how long an alarm blocks an address"),
  FORMBRIDGE_ALARM_MAIL: { kind: "text", help: "who is mailed about security incidents (default: nobody)" },
  FORMBRIDGE_COUNTRY_HEADER: {
    kind: "text",
    help: "header in which the trusted proxy names the client's country, such as cf-ipcountry (default: none)",
  },
  FORMBRIDGE_INTAKES: {
    kind: "text",
    fallback: "examples/intakes",
    help: "folder of intake definitions, one *.json file each",
  },
  FORMBRIDGE_TRUST_PROXY: {
    kind: "flag",
    fallback: false,
    help: "set when exactly one TLS proxy is in front: takes the client's address from it",
  },
  FORMBRIDGE_RATE_LIMIT: { kind: "text", fallback: "on", help: "on or off" },
  FORMBRIDGE_RATE_FAILED_LOOKUPS_PER_SECOND: count(
    failedLookupsPerSecond.limit,
    "failed token lookups per second and address",
  ),
  FORMBRIDGE_RATE_FAILED_LOOKUPS_PER_MINUTE: count(
    failedLookupsPerMinute.limit,
    "failed token lookups per minute and address",
  ),
  FORMBRIDGE_RATE_CREATES_PER_KEY: count(createsPerKey.limit, "creates per minute and API key"),
  FORMBRIDGE_RATE_CREATES_PER_ADDRESS: count(createsPerAddress.limit, "creates without a key per minute and address"),
  FORMBRIDGE_RATE_CODE_ATTEMPTS: count(codeAttempts.limit, "attempts at codes of magic links per minute and address"),
  FORMBRIDGE_RATE_MAILS: count(mails.limit, "hand-off mails per minute and address"),
  FORMBRIDGE_SUBMISSION_TTL_MS: ms(DEFAULT_POLICY.submissionTtlMs, "how long a submission stays open"),
  FORMBRIDGE_TOKEN_TTL_MS: ms(DEFAULT_POLICY.tokenTtlMs, "how long a resume token lives"),
  FORMBRIDGE_TOKEN_TTL_MIN_MS: ms(DEFAULT_POLICY.tokenTtlMinMs, "the shortest token lifetime that an intake may set"),
  FORMBRIDGE_TOKEN_TTL_MAX_MS: ms(DEFAULT_POLICY.tokenTtlMaxMs, "the longest token lifetime that an intake may set"),
  FORMBRIDGE_TOKEN_MEMORY_MS: ms(
    DEFAULT_POLICY.tokenMemoryMs,
    "how long an expired token is remembered, to tell its holder that it has expired",
  ),
  FORMBRIDGE_TOKEN_WARNING_MS: ms(
    DEFAULT_POLICY.tokenWarningMs,
    "responses warn when a token expires within this time",
  ),
  FORMBRIDGE_STALE_READ_GRACE_MS: ms(DEFAULT_POLICY.staleReadGraceMs, "how long a rotated token can still read"),
  FORMBRIDGE_CLOCK_SKEW_MS: ms(DEFAULT_POLICY.clockSkewMs, "clock skew that every expiry tolerates"),
  FORMBRIDGE_MEND_MS: ms(DEFAULT_POLICY.mendMs, "time that a rejection leaves at least for corrections"),
  FORMBRIDGE_RETENTION_MS: {
    kind: "number",
    help: "how long an ended submission keeps its values if its intake sets nothing, in milliseconds (default: forever)",
  },
  FORMBRIDGE_EVENT_RETENTION_MS: ms(
    DEFAULT_POLICY.eventRetentionMs,
    "how long the history of an erased submission is kept, without its values; at least 90 days",
  ),
  FORMBRIDGE_ARCHIVE: {
    kind: "text",
    help: "folder for submissions that are archived before they are erased (default: archive in the data folder)",
  },
  FORMBRIDGE_UPLOAD_TTL_MS: ms(DEFAULT_POLICY.uploadTtlMs, "how long an upload URL lives"),
  FORMBRIDGE_UPLOAD_GRACE_MS: ms(DEFAULT_POLICY.uploadGraceMs, "how long a file that is no longer needed is kept"),
  FORMBRIDGE_UPLOAD_QUOTA_SUBMISSION_BYTES: count(
    DEFAULT_POLICY.submissionUploadBytes,
    "limit for all files of one submission, in bytes; 0 for no limit",
  ),
  FORMBRIDGE_UPLOAD_QUOTA_INTAKE_BYTES: count(0, "limit for all files of one intake, in bytes; 0 for no limit"),
  FORMBRIDGE_UPLOAD_QUOTA_ADDRESS_BYTES: count(
    10 * 1024 ** 3,
    "limit for what one address may announce per day without a key, in bytes; 0 for no limit",
  ),
  FORMBRIDGE_UPLOAD_DISK_RESERVE_BYTES: count(
    512 * 1024 ** 2,
    "space that uploads must leave free on the disk of the data folder, in bytes",
  ),
  FORMBRIDGE_UPLOAD_IDLE_MS: ms(30_000, "how long a client may be silent while it sends a file"),
  FORMBRIDGE_DOWNLOAD_TTL_MS: ms(DEFAULT_POLICY.downloadTtlMs, "how long a download URL works"),
  FORMBRIDGE_S3_BUCKET: { kind: "text", help: "bucket for files (default: none; files go to the data folder)" },
  FORMBRIDGE_S3_ENDPOINT: { kind: "text", help: "URL of the storage, if it isn't Amazon's" },
  FORMBRIDGE_S3_REGION: { kind: "text", fallback: "us-east-1", help: "region of the bucket" },
  FORMBRIDGE_S3_ACCESS_KEY_ID: {
    kind: "text",
    help: "access key id (default: the credentials that the environment provides)",
  },
  FORMBRIDGE_S3_SECRET_ACCESS_KEY: { kind: "text", secret: true, help: "secret of that access key" },
  FORMBRIDGE_S3_FORCE_PATH_STYLE: {
    kind: "flag",
    fallback: false,
    help: "put the bucket's name into the path instead of the host; most storages other than Amazon's need it",
  },
  FORMBRIDGE_S3_PREFIX: { kind: "text", fallback: "formbridge/", help: "prefix of all names in the bucket" },
  FORMBRIDGE_SCAN_COMMAND: {
    kind: "text",
    help: "command that scans a file on its standard input; exits with 0 for clean, 1 for found (default: none)",
  },
  FORMBRIDGE_SCAN_URL: {
    kind: "text",
    help: "URL that scans a file sent by POST and responds with { clean, found } as JSON (default: none)",
  },
  FORMBRIDGE_SCAN_TIMEOUT_MS: ms(60_000, "how long a scan may take"),
  FORMBRIDGE_SESSION_TTL_MS: ms(DEFAULT_POLICY.sessionTtlMs, "how long a hand-off session lives"),
  FORMBRIDGE_QR_TTL_MS: ms(DEFAULT_POLICY.qrTtlMs, "how long a QR code can be opened"),
  FORMBRIDGE_CODE_TTL_MS: ms(DEFAULT_POLICY.codeTtlMs, "how long the code of a magic link can be used"),
  FORMBRIDGE_CODE_TRIES: count(DEFAULT_POLICY.codeTries, "wrong attempts that a code allows"),
  FORMBRIDGE_HANDOFF_TTL_MIN_MS: ms(DEFAULT_POLICY.handoffTtlMinMs, "the shortest lifetime of a hand-off link"),
  FORMBRIDGE_HANDOFF_TTL_MAX_MS: ms(DEFAULT_POLICY.handoffTtlMaxMs, "the longest lifetime of a hand-off link"),
  FORMBRIDGE_REVIEW_LINK_TTL_MS: ms(DEFAULT_POLICY.reviewLinkTtlMs, "how long a review link can be used"),
  FORMBRIDGE_IDEMPOTENCY_TTL_MS: ms(DEFAULT_POLICY.idempotencyTtlMs, "how long recorded responses are kept"),
  FORMBRIDGE_KEY_WAIT_MS: ms(30_000, "how long a request waits for another one with its idempotency key"),
  FORMBRIDGE_WATCH_POLL_MS: ms(1_000, "how often a waiting reader polls for events, in case a notification is lost"),
  FORMBRIDGE_MAX_KEY_WAITERS: count(
    100,
    "how many requests may queue for one idempotency key; further ones poll for its record",
  ),
  FORMBRIDGE_DELIVERY_WAIT_MS: ms(
    1_000,
    "how long a submit, or the last approval, waits for the first delivery attempt",
  ),
  FORMBRIDGE_DELIVERY_WAIT_MAX_MS: ms(30_000, "the longest wait that a caller may ask for with Prefer: wait"),
  FORMBRIDGE_DELIVERY_TIMEOUT_MS: ms(15_000, "how long one delivery attempt may take in total"),
  FORMBRIDGE_ALLOW_PRIVATE_TARGETS: {
    kind: "flag",
    fallback: false,
    help: "deliver to private, loopback and link-local addresses too",
  },
  FORMBRIDGE_WORKER: {
    kind: "text",
    fallback: "on",
    help: "on or off: run jobs in serve; turn it off if formbridge worker runs them",
  },
  FORMBRIDGE_JOBS_AT_ONCE: count(128, "jobs that a process runs at the same time"),
  FORMBRIDGE_JOBS_PER_LANE: count(
    32,
    "of these, jobs of one kind and intake, so that a slow destination doesn't take all",
  ),
  FORMBRIDGE_JOB_LEASE_MS: ms(60_000, "after this time another worker may claim a job whose worker died"),
  FORMBRIDGE_JOB_POLL_MS: ms(1_000, "how often workers poll for due jobs"),
  FORMBRIDGE_WEBHOOKS_AT_ONCE: count(64, "event webhooks that a process sends to at the same time"),
  FORMBRIDGE_MAX_WEBHOOKS: count(100, "event webhooks that one tenant may create"),
  FORMBRIDGE_WEBHOOK_SECRET_GRACE_MS: ms(
    86_400_000,
    "how long a replaced secret of an event webhook keeps signing together with the new one",
  ),
  FORMBRIDGE_SWEEP_INTERVAL_MS: ms(60_000, "pause between two sweeps"),
  FORMBRIDGE_SWEEP_BATCH: count(500, "items of each kind that a sweep loads at once"),
  FORMBRIDGE_SWEEP_AT_ONCE: count(
    256,
    "of these, how many it processes at once at most; fewer while requests are being served",
  ),
  FORMBRIDGE_AUDIT_FLUSH_MS: ms(5_000, "how often read audits are written"),
  FORMBRIDGE_PAGE_TOKEN_TTL_MS: ms(86_400_000, "how long a page token lives"),
  FORMBRIDGE_LIST_COUNT_LIMIT: count(
    1_000,
    "how many items of a list are counted; beyond that, its total is an estimate",
  ),
  FORMBRIDGE_OAI_NAME: { kind: "text", fallback: "FormBridge", help: "name of the repository at /oai" },
  FORMBRIDGE_OAI_DOMAIN: {
    kind: "text",
    help: "domain name in the identifiers of published records; it must never change (default: the host of the public URL)",
  },
  FORMBRIDGE_OAI_ADMIN_EMAIL: {
    kind: "text",
    help: "e-mail address that harvesters can write to (default: postmaster of that domain)",
  },
  FORMBRIDGE_OAI_AT_ONCE: count(8, "harvest requests that are served at once; further ones get a 503 with Retry-After"),
  FORMBRIDGE_OAI_RETRY_AFTER_MS: ms(10_000, "how long a refused harvester is asked to wait"),
  FORMBRIDGE_OAI_PAGE_SIZE: count(100, "records on a page of a harvest"),
  FORMBRIDGE_MAX_BODY_BYTES: count(1_048_576, "largest request body"),
  FORMBRIDGE_MAX_FIELDS_SIZE: count(
    DEFAULT_POLICY.maxFieldsSize,
    "largest size of a submission's fields, in characters of JSON",
  ),
  FORMBRIDGE_MAX_DEPTH: count(64, "deepest nesting in a body"),
  FORMBRIDGE_MAX_KEYS: count(10_000, "most keys in a body"),
  FORMBRIDGE_MAX_HEADER_BYTES: count(16_384, "largest header block"),
  FORMBRIDGE_MAX_SCHEMA_FIELDS: count(500, "most fields in an intake's schema"),
  FORMBRIDGE_REQUEST_TIMEOUT_MS: ms(30_000, "how long a request may take to arrive"),
  FORMBRIDGE_STOP_GRACE_MS: ms(10_000, "how long a stop waits for clients that don't read their responses"),
  FORMBRIDGE_ALLOW_TEST_HEADERS: { kind: "flag", fallback: false, help: "honour X-Idempotency-TTL" },
  FORMBRIDGE_TOKEN_LOOKUP_TIMEOUT_MS: ms(1_000, "how long the look-up of a token or session may take"),
  FORMBRIDGE_LOG_LEVEL: { kind: "text", fallback: "info", help: "trace, debug, info, warn, error, fatal or silent" },
  FORMBRIDGE_LOG_FORMAT: {
    kind: "text",
    fallback: "auto",
    help: "json, pretty (for people) or auto (pretty on a terminal, JSON elsewhere)",
  },
  FORMBRIDGE_LOG_SAMPLING: {
    kind: "text",
    fallback: "on",
    help: "on or off: of debug lines about idempotency keys, log 1 % of waits and 10 % of look-ups only",
  },
  FORMBRIDGE_METRICS_PORT: {
    kind: "number",
    help: "port of its own for /metrics; 0 takes a free one (default: none)",
  },
  FORMBRIDGE_METRICS_HOST: { kind: "text", fallback: "127.0.0.1", help: "address of the port for /metrics" },
  FORMBRIDGE_METRICS_KEY: {
    kind: "text",
    secret: true,
    help: "bearer key for scrapes; with it the server's own port has /metrics too (default: none)",
  },
  FORMBRIDGE_METRICS_LABEL_LIMIT: count(
    200,
    "intakes with a label of their own in metrics; all others are counted as other",
  ),
  FORMBRIDGE_METRICS_LOOK_MS: ms(15_000, "pause between two samples of the stores' clock, size and jobs"),
  FORMBRIDGE_TOKEN_STORE_MAX: count(10_000_000, "tokens that the store was sized for, for the alert on its growth"),
  FORMBRIDGE_OTLP_ENDPOINT: {
    kind: "text",
    alias: "OTEL_EXPORTER_OTLP_ENDPOINT",
    help: "URL of an OpenTelemetry collector that metrics and traces are sent to, by OTLP over HTTP (default: none)",
  },
  FORMBRIDGE_OTLP_HEADERS: {
    kind: "text",
    alias: "OTEL_EXPORTER_OTLP_HEADERS",
    secret: true,
    help: "headers for the collector: name=value with commas (default: none)",
  },
  FORMBRIDGE_OTLP_TIMEOUT_MS: {
    ...ms(10_000, "how long a push to the collector may take"),
    alias: "OTEL_EXPORTER_OTLP_TIMEOUT",
  },
  FORMBRIDGE_OTLP_METRICS_INTERVAL_MS: {
    ...ms(60_000, "pause between two pushes of metrics"),
    alias: "OTEL_METRIC_EXPORT_INTERVAL",
  },
  FORMBRIDGE_TRACES_RATIO: {
    kind: "text",
    fallback: "0",
    help: "share of new traces that are sent to the collector: 0 turns tracing off, 1 sends all",
  },
  FORMBRIDGE_OTLP_TRACES_INTERVAL_MS: {
    ...ms(5_000, "pause between two batches of traces"),
    alias: "OTEL_BSP_SCHEDULE_DELAY",
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export function settingsHelp(): string {
  const lines = Object.entries(SETTINGS as Record<string, Setting>).map(([name, setting]) => {
    const names = setting.alias === undefined ? name : `${name} (or ${setting.alias})`;
    const fallback = setting.fallback === undefined ? "" : ` [${setting.fallback}]`;
    return `  ${names}\n      ${setting.help}${fallback}`;
  });
  return `Environment:\n${lines.join("\n")}`;
}
