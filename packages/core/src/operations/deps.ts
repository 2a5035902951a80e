import type { Policy } from "../domain/policy.ts";
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
  /** How long a request waits for another one with its idempotency key. */
  keyWaitMs: number;
  maxKeyWaiters: number;
  /** How long a submit, or the last approval, waits for the first delivery: by itself, and when asked to. */
  deliveryWaitMs: number;
  deliveryWaitMaxMs: number;
  /** What one round of a sweep looks for of each kind, and how many of these it does at once. */
  sweepBatch: number;
  sweepAtOnce: number;
  maxSchemaFields: number;
  /** Webhooks that callers of one tenant may have. */
  maxWebhooks: number;
  /** How long a webhook's secret signs beside the one that took its place. */
  webhookSecretGraceMs: number;
  /** false: no limit is counted. */
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

/** Everything that operations reach beyond themselves. */
export interface Deps {
  backend: Backend;
  sealer: Sealer;
  pageTokens: PageTokens;
  random: Randomness;
  wakeups: Wakeups;
  rateLimiter: RateLimiter;
  instrumentation: Instrumentation;
  settings: Settings;
  /** Absent: API keys alone prove who calls. */
  authenticator?: Authenticator;
  /** Where links lead to: the URL that callers reach the server at, without a slash at its end. */
  publicUrl: () => string;
  courier: Courier;
  webhookSecrets: WebhookSecrets;
  /** Signs URLs of files. */
  uploadGrants: UploadGrants;
  /** Absent: this deployment takes no files. */
  uploads?: UploadStorage;
  /** Absent: files are checked, and not looked into. */
  scanner?: Scanner;
  /** Where a program of the operator is told of reviews and ends. Absent: nowhere. */
  notifyUrl?: string;
  /** Where submissions are kept that were erased here; absent: what is to be archived is not erased. */
  archive?: Archive;
  /** Absent: this deployment sends no e-mail. */
  mailer?: Mailer;
}
