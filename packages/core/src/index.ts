export {
  type AlarmRule,
  type AlarmRules,
  DEFAULT_ALARMS,
  isTimed,
  responsesProblem,
  ruleProblem,
} from "./domain/alarms/alarm.ts";
export type { Block, Incident } from "./domain/alarms/incident.ts";
export {
  chainEvents,
  EMPTY_HEADS,
  firstBrokenLink,
  saltedDigest,
} from "./domain/chain.ts";
export type * from "./domain/chained-event.ts";
export { ContractError, errorBody, internalError } from "./domain/error.ts";
export { type Handoff, handoffHashes, type Session } from "./domain/handoffs/handoff.ts";
export { canonicalJson, type Hash, sha256 } from "./domain/hashing.ts";
export * from "./domain/idempotency/key-record.ts";
export { type Instant, toIso } from "./domain/instant.ts";
export { checkDefinition } from "./domain/intake/check-definition.ts";
export { isObject, resolverOf, type SchemaNode } from "./domain/intake/schema-nodes.ts";
export { schemaViewOf } from "./domain/intake/schema-view.ts";
export type * from "./domain/job.ts";
export { parseJsonBody } from "./domain/json-body.ts";
export { DEFAULT_POLICY, type Policy, submissionLifetime, tokenLifetime } from "./domain/policy.ts";
export type { Publication, PublicationStatus, PublishedContent, Publishing } from "./domain/publishing.ts";
export type { ReviewLink } from "./domain/review/review-link.ts";
export type * from "./domain/sealed.ts";
export * from "./domain/side-row.ts";
export { type ChainHead, endedAt, type Submission } from "./domain/submission.ts";
export type * from "./domain/tokens/token-row.ts";
export { isEditable, isTerminal } from "./domain/transitions.ts";
export type * from "./domain/webhooks/feed.ts";
export type * from "./domain/webhooks/webhook.ts";
export type { Caller, Target } from "./operations/caller.ts";
export { createOperations, type Operations } from "./operations/create-operations.ts";
export { DEFAULT_RATE_RULES, type Deps, type RateRules, type Settings } from "./operations/deps.ts";
export type { KnownState } from "./operations/get-submission.ts";
export type { KeyRecordView } from "./operations/key-records.ts";
export { DEFAULT_TENANT } from "./operations/keys.ts";
export type { Harvest, HarvestQuery } from "./operations/list-published.ts";
export type { TokenView } from "./operations/list-tokens.ts";
export type { OpenIntake, OpenIntakes } from "./operations/open-intakes.ts";
export { opensAnswer, opensSnapshot } from "./operations/read/open-snapshot.ts";
export type { PublishedRecord } from "./operations/read/published.ts";
export type { OperationResponse } from "./operations/read/response.ts";
export type { UploadContent } from "./operations/read-upload.ts";
export { countLost, resealed } from "./operations/reseal.ts";
export type { ResumableUpload } from "./operations/resume-upload.ts";
export { opensDefinition, sealIntakes } from "./operations/seal-intakes.ts";
export { opensWebhook } from "./operations/webhooks/webhook-secrets.ts";
export type * from "./ports/alarm-windows.ts";
export type * from "./ports/archive.ts";
export { type Authenticator, AuthenticatorDown, type Principal } from "./ports/authenticator.ts";
export type { Backend } from "./ports/backend.ts";
export type * from "./ports/courier.ts";
export type * from "./ports/deadlines.ts";
export * from "./ports/events.ts";
export type * from "./ports/handoffs.ts";
export type * from "./ports/health.ts";
export type * from "./ports/idempotency.ts";
export type * from "./ports/incidents.ts";
export {
  type CallFacts,
  type Instrumentation,
  type Measure,
  type MeasuredKey,
  silent,
} from "./ports/instrumentation.ts";
export type * from "./ports/intakes.ts";
export * from "./ports/jobs.ts";
export { ANOTHER_INSTANCE, createKeyQueue } from "./ports/key-queue.ts";
export type * from "./ports/keys.ts";
export { type Mail, type Mailer, MailRefused } from "./ports/mailer.ts";
export type * from "./ports/publications.ts";
export type * from "./ports/rate-limiter.ts";
export type * from "./ports/retention.ts";
export type * from "./ports/review-links.ts";
export * from "./ports/scanner.ts";
export { SEALED_KINDS, type SealedKind, type SealedRow, type SealedRows } from "./ports/sealed-rows.ts";
export type { Sealer } from "./ports/sealer.ts";
export type { SecretChecks } from "./ports/secret-checks.ts";
export { MAX_COUNTED_JOBS, type StoreSizes } from "./ports/sizes.ts";
export * from "./ports/store.ts";
export type * from "./ports/submissions.ts";
export type * from "./ports/tokens.ts";
export { type SpanAttributes, shortHash, type Tracing, untraced } from "./ports/tracing.ts";
export type * from "./ports/uploads.ts";
export * from "./ports/uploads.ts";
export * from "./ports/webhooks.ts";
export { createAesSealer } from "./vault/aes-sealer.ts";
export { createRandomness, type Randomness } from "./vault/mint.ts";
export { createPageTokens } from "./vault/page-tokens.ts";
export { createUploadGrants } from "./vault/upload-grants.ts";
export { createWebhookSecrets, type WebhookSecrets } from "./vault/webhook-secrets.ts";
