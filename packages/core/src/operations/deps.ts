import type { AlarmRules } from "../domain/alarms/alarm.ts";
import type { Policy } from "../domain/policy.ts";
import type { AlarmWindows } from "../ports/alarm-windows.ts";
import type { Archive } from "../ports/archive.ts";
import type { Authenticator } from "../ports/authenticator.ts";
import type { Backend } from "../ports/backend.ts";
import type { Courier } from "../ports/courier.ts";
import type { Wakeups } from "../ports/events.ts";
import type { Instrumentation } from "../ports/instrumentation.ts";
import type { Mailer } from "../ports/mailer.ts";
import type { RateLimiter, RateRule } from "../ports/rate-limiter.ts";
import type { Scanner } from "../ports/scanner.ts";
import type { Sealer } from "../ports/sealer.ts";
import type { Tracing } from "../ports/tracing.ts";
import type { UploadStorage } from "../ports/uploads.ts";
import type { Randomness } from "../vault/mint.ts";
import type { PageTokens } from "../vault/page-tokens.ts";
import type { UploadGrants } from "../vault/upload-grants.ts";
import type { WebhookSecrets } from "../vault/webhook-secrets.ts";

export interface RateRules {
  failedLookupsPerSecond: RateRule;
  failedLookupsPerMinute: RateRule;
  createsPerKey: RateRule;
  createsPerAddress: RateRule;
  codeAttempts: RateRule;
  mails: RateRule;
}

export interface Settings {
  policy: Policy;
  /** How long a request waits for another one with the same idempotency key. */
  keyWaitMs: number;
  maxKeyWaiters: number;
  /** How long the lookup of a token or session may take. */
  tokenLookupMs: number;
  /** How often a waiting call polls, because notifications may get lost. */
  watchPollMs: number;
  /** How long a submit, or the last approval, waits for the first delivery: by default, and at most. */
  deliveryWaitMs: number;
  deliveryWaitMaxMs: number;
  /** How many items of each kind one round of a sweep handles, and how many of them concurrently. */
  sweepBatch: number;
  sweepAtOnce: number;
  maxSchemaFields: number;
  /** How many webhooks the callers of one tenant may create. */
  maxWebhooks: number;
  /** How long a replaced webhook secret still signs. */
  webhookSecretGraceMs: number;
  /** Limits for files, in bytes. 0: no limit. */
  uploadQuotas: {
    /** For all files of one intake. */
    intakeBytes: number;
    /** For what one address announces per day without an API key. */
    addressBytes: number;
  };
  /** How many items of a list are counted for its total; beyond that the total is an estimate. */
  listCountLimit: number;
  /** Records per page of a harvest. */
  harvestPageSize: number;
  /** Absent alarms are off, unless an intake has its own. false: there are none. */
  alarms: AlarmRules | false;
  /** How long an alarm blocks an address. */
  alarmBlockMs: number;
  /** Who is mailed about incidents. */
  alarmMail?: string;
  /** false: no rate limits. */
  rateLimits: RateRules | false;
}

export const DEFAULT_RATE_RULES: RateRules = {
  failedLookupsPerSecond: { name: "failed-lookups-second", limit: 10, windowMs: 1_000 },
  failedLookupsPerMinute: { name: "failed-lookups-minute", limit: 100, windowMs: 60_000 },
  createsPerKey: { name: "creates-key", limit: 6_000, windowMs: 60_000 },
  createsPerAddress: { name: "creates-address", limit: 60, windowMs: 60_000 },
  codeAttempts: { name: "code-attempts", limit: 10, windowMs: 60_000 },
  mails: { name: "mails", limit: 20, windowMs: 60_000 },
};

/** Everything that operations depend on. */
export interface Deps {
  backend: Backend;
  sealer: Sealer;
  pageTokens: PageTokens;
  random: Randomness;
  wakeups: Wakeups;
  rateLimiter: RateLimiter;
  alarmWindows: AlarmWindows;
  /** Looks up the country of an address; for embedding programs. */
  countryOf?: (address: string) => string | undefined;
  instrumentation: Instrumentation;
  tracing: Tracing;
  settings: Settings;
  /** Absent: only API keys identify callers. */
  authenticator?: Authenticator;
  /** The base of all links: the URL at which callers reach the server, without a trailing slash. */
  publicUrl: () => string;
  courier: Courier;
  webhookSecrets: WebhookSecrets;
  /** Signs file URLs. */
  uploadGrants: UploadGrants;
  /** Absent: this deployment takes no files. */
  uploads?: UploadStorage;
  /** Absent: files are checked but not scanned. */
  scanner?: Scanner;
  /** The operator's webhook for notices of reviews and ends. Absent: none. */
  notifyUrl?: string;
  /** Where submissions are archived before they are erased; without it, those to be archived aren't erased. */
  archive?: Archive;
  /** Absent: this deployment sends no e-mail. */
  mailer?: Mailer;
}
