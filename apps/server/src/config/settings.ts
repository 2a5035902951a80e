import { DEFAULT_POLICY, DEFAULT_RATE_RULES } from "@formbridge/core";

type Kind = "text" | "number" | "flag" | "rate";

/** A setting: its variable, what it takes, what it is when absent, and what it does. */
export interface Setting {
  kind: Kind;
  /** A second name that many platforms set. */
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

/** Every setting there is. `formbridge serve --help` prints this table. */
export const SETTINGS = {
  FORMBRIDGE_HOST: { kind: "text", fallback: "127.0.0.1", help: "address to listen on" },
  FORMBRIDGE_PORT: { kind: "number", alias: "PORT", fallback: 3000, help: "port to listen on; 0 takes a free one" },
  FORMBRIDGE_DATA: { kind: "text", fallback: ".formbridge", help: "folder of the embedded database and the secret" },
  FORMBRIDGE_DATABASE_URL: {
    kind: "text",
    alias: "DATABASE_URL",
    help: "sqlite:<file>, postgres://<user>:<password>@<host>/<name> or memory: (default: sqlite in the data folder)",
  },
  FORMBRIDGE_DATABASE_POOL_SIZE: count(10, "connections that a process opens to PostgreSQL, besides one for wake-ups"),
  FORMBRIDGE_DATABASE_CONNECT_TIMEOUT_MS: ms(5_000, "how long a call waits for a connection to PostgreSQL"),
  FORMBRIDGE_DATABASE_STATEMENT_TIMEOUT_MS: ms(10_000, "how long a statement may take in PostgreSQL"),
  FORMBRIDGE_DATABASE_LOCK_TIMEOUT_MS: ms(
    5_000,
    "how long a write waits in PostgreSQL for another one on the same row or key",
  ),
  FORMBRIDGE_REDIS_URL: {
    kind: "text",
    alias: "REDIS_URL",
    help: "redis://[<user>:<password>@]<host>[:<port>][/<database>], rediss:// with TLS, redis-cluster:// or rediss-cluster:// with several <host>:<port> and commas: counts rate limits and wakes readers of all instances (default: none)",
  },
  FORMBRIDGE_REDIS_PREFIX: {
    kind: "text",
    fallback: "formbridge",
    help: "what names in Redis begin with; one for each deployment that shares it",
  },
  FORMBRIDGE_REDIS_TIMEOUT_MS: ms(500, "how long a call waits for Redis"),
  FORMBRIDGE_REDIS_LOCK_MS: ms(
    10_000,
    "how long an idempotency key stays locked when the instance that locked it died",
  ),
  FORMBRIDGE_TOKEN_BACKEND: {
    kind: "text",
    help: "who looks up tokens: sql, redis, hybrid (Redis, and the database without it) or memory (default: the database)",
  },
  FORMBRIDGE_IDEMPOTENCY_BACKEND: {
    kind: "text",
    help: "who keeps requests with one idempotency key in line: sql, redis or memory (default: the database)",
  },
  FORMBRIDGE_PUBLIC_URL: { kind: "text", help: "the URL that callers reach the server at (default: host and port)" },
  FORMBRIDGE_MCP: { kind: "text", fallback: "on", help: "on or off: is the agent protocol served at /mcp?" },
  FORMBRIDGE_MCP_TOOLS: {
    kind: "text",
    fallback: "auto",
    help: "tools that agents see: intake (a set for each intake), generic (one set for all) or auto (up to 12 intakes a set each, beyond that one for all)",
  },
  FORMBRIDGE_MCP_HOSTS: {
    kind: "text",
    help: "names, besides localhost and those of FORMBRIDGE_HOST and FORMBRIDGE_PUBLIC_URL, under which /mcp may be called, with commas (default: none)",
  },
  FORMBRIDGE_MCP_ORIGINS: {
    kind: "text",
    help: "origins, besides that of FORMBRIDGE_PUBLIC_URL, whose pages may call /mcp, with commas (default: none)",
  },
  FORMBRIDGE_MCP_ASK_TIMEOUT_MS: ms(
    45_000,
    "how long a host of an older revision has to put a question to its user; then the call goes on without a reply",
  ),
  FORMBRIDGE_MCP_KEY: {
    kind: "text",
    secret: true,
    help: "API key that formbridge mcp works with (default: with its own store a key of its own, elsewhere none)",
  },
  FORMBRIDGE_SECRET: {
    kind: "text",
    secret: true,
    help: "all sealing and signing derives from it; several, newest first, with commas (default: made and kept in the data folder; with PostgreSQL it must be set)",
  },
  FORMBRIDGE_ADMIN_KEY: {
    kind: "text",
    secret: true,
    help: "preset admin key (default: one is made and printed on first start)",
  },
  FORMBRIDGE_JWT_ISSUERS: {
    kind: "text",
    help: "issuers whose JWTs are taken: a JSON array, or a file that holds one (default: API keys only)",
  },
  FORMBRIDGE_JWKS_TIMEOUT_MS: ms(5_000, "how long an issuer may take to tell its keys"),
  FORMBRIDGE_JWKS_COOLDOWN_MS: ms(30_000, "pause between two fetches of an issuer's keys"),
  FORMBRIDGE_JWKS_MAX_AGE_MS: ms(600_000, "after this an issuer's keys are fetched anew"),
  FORMBRIDGE_JWKS_STALE_MS: ms(86_400_000, "how much longer they are used while the issuer does not answer"),
  FORMBRIDGE_SMTP_URL: {
    kind: "text",
    secret: true,
    help: "mail server: smtp://[<user>:<password>@]<host>[:<port>] with STARTTLS where offered, smtps:// with TLS (default: no e-mail)",
  },
  FORMBRIDGE_MAIL_FROM: {
    kind: "text",
    help: "what mail comes from: an address, or Name <address>; must be set with FORMBRIDGE_SMTP_URL",
  },
  FORMBRIDGE_NOTIFY_URL: {
    kind: "text",
    secret: true,
    help: "webhook of your own that is told of reviews, escalations, rejections, ends and warnings (default: none)",
  },
  FORMBRIDGE_SMTP_TIMEOUT_MS: ms(20_000, "how long the mail server may take for one mail"),
  FORMBRIDGE_INTAKES: {
    kind: "text",
    fallback: "examples/intakes",
    help: "folder of intake definitions, *.json, one each",
  },
  FORMBRIDGE_TRUST_PROXY: {
    kind: "flag",
    fallback: false,
    help: "one TLS proxy is in front: take the client's address from it",
  },
  FORMBRIDGE_RATE_LIMIT: { kind: "text", fallback: "on", help: "on or off" },
  FORMBRIDGE_RATE_FAILED_LOOKUPS_PER_SECOND: count(
    failedLookupsPerSecond.limit,
    "failed token look-ups a second and address",
  ),
  FORMBRIDGE_RATE_FAILED_LOOKUPS_PER_MINUTE: count(
    failedLookupsPerMinute.limit,
    "failed token look-ups a minute and address",
  ),
  FORMBRIDGE_RATE_CREATES_PER_KEY: count(createsPerKey.limit, "creates a minute and API key"),
  FORMBRIDGE_RATE_CREATES_PER_ADDRESS: count(createsPerAddress.limit, "public creates a minute and address"),
  FORMBRIDGE_RATE_CODE_ATTEMPTS: count(codeAttempts.limit, "codes of magic links tried a minute and address"),
  FORMBRIDGE_RATE_MAILS: count(mails.limit, "magic links mailed a minute and address"),
  FORMBRIDGE_SUBMISSION_TTL_MS: ms(DEFAULT_POLICY.submissionTtlMs, "how long a submission stays open"),
  FORMBRIDGE_TOKEN_TTL_MS: ms(DEFAULT_POLICY.tokenTtlMs, "how long a resume token lives"),
  FORMBRIDGE_TOKEN_TTL_MIN_MS: ms(DEFAULT_POLICY.tokenTtlMinMs, "the least an intake may ask for"),
  FORMBRIDGE_TOKEN_TTL_MAX_MS: ms(DEFAULT_POLICY.tokenTtlMaxMs, "the most an intake may ask for"),
  FORMBRIDGE_TOKEN_MEMORY_MS: ms(
    DEFAULT_POLICY.tokenMemoryMs,
    "how long a token that is over is still known, to say so",
  ),
  FORMBRIDGE_TOKEN_WARNING_MS: ms(DEFAULT_POLICY.tokenWarningMs, "answers warn when a token has no longer than this"),
  FORMBRIDGE_STALE_READ_GRACE_MS: ms(DEFAULT_POLICY.staleReadGraceMs, "how long a rotated token still reads"),
  FORMBRIDGE_CLOCK_SKEW_MS: ms(DEFAULT_POLICY.clockSkewMs, "tolerance of every expiry"),
  FORMBRIDGE_MEND_MS: ms(DEFAULT_POLICY.mendMs, "what a rejection leaves at least"),
  FORMBRIDGE_RETENTION_MS: {
    kind: "number",
    help: "how long an ended submission keeps its values when its intake says nothing, in milliseconds (default: for good)",
  },
  FORMBRIDGE_EVENT_RETENTION_MS: ms(
    DEFAULT_POLICY.eventRetentionMs,
    "how long the history of an erased submission stays, without its values; 90 days at least",
  ),
  FORMBRIDGE_ARCHIVE: {
    kind: "text",
    help: "folder of submissions that were archived before they were erased (default: archive in the data folder)",
  },
  FORMBRIDGE_UPLOAD_TTL_MS: ms(DEFAULT_POLICY.uploadTtlMs, "how long an upload URL lives"),
  FORMBRIDGE_UPLOAD_GRACE_MS: ms(
    DEFAULT_POLICY.uploadGraceMs,
    "how long a file that nobody needs any more is kept all the same",
  ),
  FORMBRIDGE_UPLOAD_IDLE_MS: ms(30_000, "how long a client may be silent while it sends a file"),
  FORMBRIDGE_DOWNLOAD_TTL_MS: ms(DEFAULT_POLICY.downloadTtlMs, "how long a URL gives a file"),
  FORMBRIDGE_S3_BUCKET: { kind: "text", help: "bucket for files (default: none; files go to the data folder)" },
  FORMBRIDGE_S3_ENDPOINT: { kind: "text", help: "URL of the storage, when it is not Amazon's" },
  FORMBRIDGE_S3_REGION: { kind: "text", fallback: "us-east-1", help: "region of the bucket" },
  FORMBRIDGE_S3_ACCESS_KEY_ID: { kind: "text", help: "who signs; without it, what the machine's surroundings provide" },
  FORMBRIDGE_S3_SECRET_ACCESS_KEY: { kind: "text", secret: true, help: "the key to it" },
  FORMBRIDGE_S3_FORCE_PATH_STYLE: {
    kind: "flag",
    fallback: false,
    help: "name the bucket in the path instead of the host; most storages that are not Amazon's need it",
  },
  FORMBRIDGE_S3_PREFIX: { kind: "text", fallback: "formbridge/", help: "what names in the bucket begin with" },
  FORMBRIDGE_SCAN_COMMAND: {
    kind: "text",
    help: "program that scans a file from its standard input, with its arguments; ends with 0 for clean, 1 for found (default: none)",
  },
  FORMBRIDGE_SCAN_URL: {
    kind: "text",
    help: "URL that takes a file by POST and answers { clean, found } as JSON (default: none)",
  },
  FORMBRIDGE_SCAN_TIMEOUT_MS: ms(60_000, "how long a scan may take"),
  FORMBRIDGE_SESSION_TTL_MS: ms(DEFAULT_POLICY.sessionTtlMs, "how long a hand-off session lives"),
  FORMBRIDGE_QR_TTL_MS: ms(DEFAULT_POLICY.qrTtlMs, "how long a QR code can be opened"),
  FORMBRIDGE_CODE_TTL_MS: ms(DEFAULT_POLICY.codeTtlMs, "how long the code of a magic link can be used"),
  FORMBRIDGE_CODE_TRIES: count(
    DEFAULT_POLICY.codeTries,
    "how often a code, or the address that goes with it, may be wrong",
  ),
  FORMBRIDGE_HANDOFF_TTL_MIN_MS: ms(DEFAULT_POLICY.handoffTtlMinMs, "the least a hand-off may ask for"),
  FORMBRIDGE_HANDOFF_TTL_MAX_MS: ms(DEFAULT_POLICY.handoffTtlMaxMs, "the most a hand-off may ask for"),
  FORMBRIDGE_REVIEW_LINK_TTL_MS: ms(DEFAULT_POLICY.reviewLinkTtlMs, "how long a review link can be used"),
  FORMBRIDGE_IDEMPOTENCY_TTL_MS: ms(DEFAULT_POLICY.idempotencyTtlMs, "how long recorded answers are kept"),
  FORMBRIDGE_KEY_WAIT_MS: ms(30_000, "how long a request waits for another one with its idempotency key"),
  FORMBRIDGE_MAX_KEY_WAITERS: count(100, "how many may wait for one idempotency key"),
  FORMBRIDGE_DELIVERY_WAIT_MS: ms(1_000, "how long a submit, or the last approval, waits for the first delivery"),
  FORMBRIDGE_DELIVERY_WAIT_MAX_MS: ms(30_000, "the most that a caller may ask for, by Prefer: wait"),
  FORMBRIDGE_DELIVERY_TIMEOUT_MS: ms(15_000, "how long one attempt to deliver may take in all"),
  FORMBRIDGE_ALLOW_PRIVATE_TARGETS: {
    kind: "flag",
    fallback: false,
    help: "deliver to private, loopback and link-local addresses too",
  },
  FORMBRIDGE_WORKER: {
    kind: "text",
    fallback: "on",
    help: "on or off: does serve run jobs itself? Off where formbridge worker does",
  },
  FORMBRIDGE_JOBS_AT_ONCE: count(128, "jobs that a process runs at the same time"),
  FORMBRIDGE_JOBS_PER_LANE: count(32, "of these, jobs of one kind for one intake: a slow destination takes no more"),
  FORMBRIDGE_JOB_LEASE_MS: ms(60_000, "after this a job of a worker that is silent goes to another"),
  FORMBRIDGE_JOB_POLL_MS: ms(1_000, "how often is looked for jobs whose time has come"),
  FORMBRIDGE_WEBHOOKS_AT_ONCE: count(64, "event webhooks that a process sends to at the same time"),
  FORMBRIDGE_MAX_WEBHOOKS: count(100, "event webhooks that callers of one tenant may make"),
  FORMBRIDGE_WEBHOOK_SECRET_GRACE_MS: ms(
    86_400_000,
    "how long the secret of an event webhook signs beside the one that took its place",
  ),
  FORMBRIDGE_SWEEP_INTERVAL_MS: ms(60_000, "pause between two sweeps"),
  FORMBRIDGE_SWEEP_BATCH: count(500, "what one round of a sweep looks for, of each kind"),
  FORMBRIDGE_SWEEP_AT_ONCE: count(
    256,
    "of these, how many it does at once at most; fewer when they would take longer than a few milliseconds",
  ),
  FORMBRIDGE_AUDIT_FLUSH_MS: ms(5_000, "how often read audits are written"),
  FORMBRIDGE_PAGE_TOKEN_TTL_MS: ms(86_400_000, "how long a page token lives"),
  FORMBRIDGE_MAX_BODY_BYTES: count(1_048_576, "largest request body"),
  FORMBRIDGE_MAX_FIELDS_SIZE: count(
    DEFAULT_POLICY.maxFieldsSize,
    "what the fields of a submission may add up to, in characters of JSON",
  ),
  FORMBRIDGE_MAX_DEPTH: count(64, "deepest nesting of a body"),
  FORMBRIDGE_MAX_KEYS: count(10_000, "most keys in a body"),
  FORMBRIDGE_MAX_HEADER_BYTES: count(16_384, "largest header block"),
  FORMBRIDGE_MAX_SCHEMA_FIELDS: count(500, "most fields in an intake's schema"),
  FORMBRIDGE_REQUEST_TIMEOUT_MS: ms(30_000, "how long a request may take to arrive"),
  FORMBRIDGE_STOP_GRACE_MS: ms(10_000, "how long a stop waits for clients that do not read their answers"),
  FORMBRIDGE_ALLOW_TEST_HEADERS: { kind: "flag", fallback: false, help: "honour X-Idempotency-TTL" },
  FORMBRIDGE_LOG_LEVEL: { kind: "text", fallback: "info", help: "trace, debug, info, warn, error or silent" },
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
