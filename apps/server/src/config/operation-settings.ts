import { DEFAULT_POLICY, DEFAULT_RATE_RULES, type RateRule, type RateRules, type Settings } from "@formbridge/core";
import { alarmsOf } from "./alarm-settings.ts";
import type { Reader } from "./reader.ts";
import type { SettingName } from "./settings.ts";
import { submissionQuotaOf, uploadQuotasOf } from "./upload-settings.ts";

/** The settings that operations take. */
export function operationSettings(read: Reader): Settings {
  return {
    policy: {
      ...DEFAULT_POLICY,
      submissionTtlMs: read.number("FORMBRIDGE_SUBMISSION_TTL_MS", { min: 1 }),
      tokenTtlMs: read.number("FORMBRIDGE_TOKEN_TTL_MS", { min: 1 }),
      tokenTtlMinMs: read.number("FORMBRIDGE_TOKEN_TTL_MIN_MS"),
      tokenTtlMaxMs: read.number("FORMBRIDGE_TOKEN_TTL_MAX_MS", { min: 1 }),
      tokenMemoryMs: read.number("FORMBRIDGE_TOKEN_MEMORY_MS"),
      maxFieldsSize: read.number("FORMBRIDGE_MAX_FIELDS_SIZE", { min: 1 }),
      tokenWarningMs: read.number("FORMBRIDGE_TOKEN_WARNING_MS"),
      staleReadGraceMs: read.number("FORMBRIDGE_STALE_READ_GRACE_MS"),
      clockSkewMs: read.number("FORMBRIDGE_CLOCK_SKEW_MS"),
      mendMs: read.number("FORMBRIDGE_MEND_MS"),
      ...retentionOf(read),
      uploadTtlMs: read.number("FORMBRIDGE_UPLOAD_TTL_MS", { min: 1 }),
      uploadGraceMs: read.number("FORMBRIDGE_UPLOAD_GRACE_MS"),
      submissionUploadBytes: submissionQuotaOf(read),
      downloadTtlMs: read.number("FORMBRIDGE_DOWNLOAD_TTL_MS", { min: 1 }),
      sessionTtlMs: read.number("FORMBRIDGE_SESSION_TTL_MS", { min: 1 }),
      qrTtlMs: read.number("FORMBRIDGE_QR_TTL_MS", { min: 1 }),
      codeTtlMs: read.number("FORMBRIDGE_CODE_TTL_MS", { min: 1 }),
      codeTries: read.number("FORMBRIDGE_CODE_TRIES", { min: 1 }),
      handoffTtlMinMs: read.number("FORMBRIDGE_HANDOFF_TTL_MIN_MS"),
      handoffTtlMaxMs: read.number("FORMBRIDGE_HANDOFF_TTL_MAX_MS", { min: 1 }),
      reviewLinkTtlMs: read.number("FORMBRIDGE_REVIEW_LINK_TTL_MS", { min: 1 }),
      idempotencyTtlMs: read.number("FORMBRIDGE_IDEMPOTENCY_TTL_MS", { min: 1 }),
    },
    keyWaitMs: read.number("FORMBRIDGE_KEY_WAIT_MS"),
    tokenLookupMs: read.number("FORMBRIDGE_TOKEN_LOOKUP_TIMEOUT_MS", { min: 1 }),
    maxKeyWaiters: read.number("FORMBRIDGE_MAX_KEY_WAITERS"),
    watchPollMs: read.number("FORMBRIDGE_WATCH_POLL_MS", { min: 10 }),
    deliveryWaitMs: read.number("FORMBRIDGE_DELIVERY_WAIT_MS"),
    deliveryWaitMaxMs: read.number("FORMBRIDGE_DELIVERY_WAIT_MAX_MS"),
    sweepBatch: read.number("FORMBRIDGE_SWEEP_BATCH", { min: 1 }),
    sweepAtOnce: read.number("FORMBRIDGE_SWEEP_AT_ONCE", { min: 1 }),
    maxSchemaFields: read.number("FORMBRIDGE_MAX_SCHEMA_FIELDS", { min: 1 }),
    maxWebhooks: read.number("FORMBRIDGE_MAX_WEBHOOKS"),
    uploadQuotas: uploadQuotasOf(read),
    webhookSecretGraceMs: read.number("FORMBRIDGE_WEBHOOK_SECRET_GRACE_MS"),
    listCountLimit: read.number("FORMBRIDGE_LIST_COUNT_LIMIT", { min: 1 }),
    harvestPageSize: read.number("FORMBRIDGE_OAI_PAGE_SIZE", { min: 1, max: 1000 }),
    ...alarmsOf(read),
    rateLimits: read.isOn("FORMBRIDGE_RATE_LIMIT") && rateRules(read),
  };
}

/** The contract promises a minimum retention of the history; only tests may set less. */
function retentionOf(read: Reader): { retentionMs?: number; eventRetentionMs: number } {
  const min = read.flag("FORMBRIDGE_ALLOW_TEST_HEADERS") ? 0 : DEFAULT_POLICY.eventRetentionMs;
  const eventRetentionMs = read.number("FORMBRIDGE_EVENT_RETENTION_MS", { min });
  if (read.optional("FORMBRIDGE_RETENTION_MS") === undefined) return { eventRetentionMs };
  return { retentionMs: read.number("FORMBRIDGE_RETENTION_MS", { min: 1 }), eventRetentionMs };
}

function rateRules(read: Reader): RateRules {
  const rule = (name: keyof RateRules, setting: SettingName): RateRule => ({
    ...DEFAULT_RATE_RULES[name],
    limit: read.number(setting, { min: 1 }),
  });
  return {
    failedLookupsPerSecond: rule("failedLookupsPerSecond", "FORMBRIDGE_RATE_FAILED_LOOKUPS_PER_SECOND"),
    failedLookupsPerMinute: rule("failedLookupsPerMinute", "FORMBRIDGE_RATE_FAILED_LOOKUPS_PER_MINUTE"),
    createsPerKey: rule("createsPerKey", "FORMBRIDGE_RATE_CREATES_PER_KEY"),
    createsPerAddress: rule("createsPerAddress", "FORMBRIDGE_RATE_CREATES_PER_ADDRESS"),
    codeAttempts: rule("codeAttempts", "FORMBRIDGE_RATE_CODE_ATTEMPTS"),
    mails: rule("mails", "FORMBRIDGE_RATE_MAILS"),
  };
}
