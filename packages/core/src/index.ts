export {
  type AuditHeads,
  chainAudit,
  chainEvent,
  EMPTY_HEAD,
  firstBrokenLink,
  saltedDigest,
  textAroundPlace,
} from "./domain/chain.ts";
export { ContractError, errorBody } from "./domain/error.ts";
export { type Handoff, handoffHashes, type Session } from "./domain/handoffs/handoff.ts";
export { canonicalJson, type Hash, sha256 } from "./domain/hashing.ts";
export { type Instant, toIso } from "./domain/instant.ts";
export { checkDefinition } from "./domain/intake/check-definition.ts";
export { isObject, resolverOf, type SchemaNode } from "./domain/intake/schema-nodes.ts";
export { schemaViewOf } from "./domain/intake/schema-view.ts";
export { parseJsonBody } from "./domain/json-body.ts";
export { DEFAULT_POLICY, type Policy } from "./domain/policy.ts";
export type { ReviewLink } from "./domain/review/review-link.ts";
export { type ChainHead, endedAt, type Submission } from "./domain/submission.ts";
export { isEditable, isTerminal } from "./domain/transitions.ts";
export type * from "./domain/webhooks/webhook.ts";
export type { Caller, Target } from "./operations/caller.ts";
export { createOperations, type Operations } from "./operations/create-operations.ts";
export { DEFAULT_RATE_RULES, type Deps, type RateRules, type Settings } from "./operations/deps.ts";
export { DEFAULT_TENANT } from "./operations/keys.ts";
export type { OpenIntake, OpenIntakes } from "./operations/open-intakes.ts";
export type { UploadContent } from "./operations/read-upload.ts";
export type { ResumableUpload } from "./operations/resume-upload.ts";
export type { Answer } from "./operations/support/answer.ts";
export { opensAnswer, opensSnapshot } from "./operations/support/open-snapshot.ts";
export { opensWebhook } from "./operations/support/webhook-secrets.ts";
export type * from "./ports/archive.ts";
export { type Authenticator, AuthenticatorDown, type Principal } from "./ports/authenticator.ts";
export type { Backend } from "./ports/backend.ts";
export * from "./ports/copy.ts";
export type * from "./ports/courier.ts";
export type * from "./ports/deadlines.ts";
export * from "./ports/events.ts";
export type * from "./ports/handoffs.ts";
export type * from "./ports/health.ts";
export type * from "./ports/idempotency.ts";
export { type Instrumentation, type Measure, silent } from "./ports/instrumentation.ts";
export type * from "./ports/intakes.ts";
export * from "./ports/jobs.ts";
export { createKeyLine } from "./ports/key-line.ts";
export type * from "./ports/keys.ts";
export { type Mail, type Mailer, MailRefused } from "./ports/mailer.ts";
export type * from "./ports/rate-limiter.ts";
export type * from "./ports/retention.ts";
export type * from "./ports/review-links.ts";
export * from "./ports/scanner.ts";
export type { Sealed, Sealer } from "./ports/sealer.ts";
export * from "./ports/store.ts";
export type * from "./ports/submissions.ts";
export type * from "./ports/tokens.ts";
export type * from "./ports/uploads.ts";
export * from "./ports/uploads.ts";
export * from "./ports/webhooks.ts";
export { createAesSealer } from "./vault/aes-sealer.ts";
export { createRandomness, type Randomness } from "./vault/mint.ts";
export { createPageTokens } from "./vault/page-tokens.ts";
export { createUploadGrants } from "./vault/upload-grants.ts";
export { createWebhookSecrets, type WebhookSecrets } from "./vault/webhook-secrets.ts";
