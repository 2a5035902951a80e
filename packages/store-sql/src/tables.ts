import type {
  EventActor,
  EventStream,
  EventType,
  IntakeDefinition,
  JsonObject,
  SubmissionState,
} from "@formbridge/contract";
import type {
  ApiKey,
  Block,
  Handoff,
  Incident,
  JobKind,
  KeyedOperation,
  PublicationStatus,
  PublishedContent,
  ReviewLink,
  Sealed,
  StoredIntake,
  Submission,
  Webhook,
  WebhookProgress,
} from "@formbridge/core";
import { bool, hash, int, json, nullable, table, text } from "./table.ts";

/**
 * Every table, once. Both SQL stores and the copy between them take their column lists and row types from here; the migrations of a
 * store create these columns, and a test compares the two.
 *
 * What a caller chose (`created_by`, `principal`) is JSON text: PostgreSQL's `text` refuses a NUL and half a surrogate pair.
 */

export const definitions = table("definitions", {
  digest: hash(),
  tenant: text(),
  definition: json<IntakeDefinition>(),
});

export const intakes = table("intakes", {
  id: text(),
  tenant: text(),
  source: text<StoredIntake["source"]>(),
  digest: hash(),
  retired: bool(),
  updated_at: int(),
});

export const apiKeys = table("api_keys", {
  key_id: text(),
  hash: hash(),
  tenant: text(),
  expires_at: nullable(int()),
  revoked: bool(),
  doc: json<ApiKey>(),
});

export const submissions = table("submissions", {
  tenant: text(),
  submission_id: text(),
  intake_id: text(),
  created_by: json<string>(),
  created_at: int(),
  state: text<SubmissionState>(),
  editable: bool(),
  expires_at: int(),
  /** Only while the submission is editable. */
  warn_at: nullable(int()),
  ended_at: nullable(int()),
  definition: hash(),
  erased_at: nullable(int()),
  version: int(),
  revision: int(),
  sealed_token: text<Sealed>(),
  sealed_fields: nullable(text<Sealed>()),
  doc: json<Submission>(),
});

/** Never updated: a token was rotated when the next version's token was issued. Tenant and intake are the submission's. */
export const tokens = table("tokens", {
  submission_id: text(),
  version: int(),
  hash: hash(),
  epoch: int(),
  issued_at: int(),
  expires_at: int(),
});

export const events = table("events", {
  tenant: text(),
  submission_id: text(),
  intake_id: text(),
  /** Assigned by the store. */
  position: int(),
  stream: text<EventStream>(),
  seq: int(),
  event_id: text(),
  type: text<EventType>(),
  ts: text(),
  state: text<SubmissionState>(),
  version: int(),
  actor: nullable(json<EventActor>()),
  payload: nullable(json<JsonObject>()),
  actor_salt: nullable(text()),
  actor_digest: hash(),
  payload_salt: nullable(text()),
  payload_digest: hash(),
  prev_hash: hash(),
  hash: hash(),
});

export const records = table("records", {
  tenant: text(),
  submission_id: text(),
  intake_id: text(),
  operation: text<KeyedOperation>(),
  hash: hash(),
  fingerprint: hash(),
  principal: json<string>(),
  carried_version: int(),
  failed: bool(),
  answer: text<Sealed>(),
  answer_by: nullable(int()),
  recorded_at: int(),
  expires_at: int(),
  keep_after_end_ms: nullable(int()),
  /** When the record expires; null while that depends on a submission that hasn't ended. */
  live_until: nullable(int()),
});

export const handoffs = table("handoffs", {
  tenant: text(),
  submission_id: text(),
  handoff_id: text(),
  forget_after: int(),
  doc: json<Handoff>(),
});

/** Maps the hash of a link, or of a session opened with it, to its hand-off. */
export const handoffKeys = table("handoff_keys", {
  hash: hash(),
  handoff_id: text(),
});

export const reviewLinks = table("review_links", {
  tenant: text(),
  submission_id: text(),
  link_id: text(),
  hash: hash(),
  forget_after: int(),
  doc: json<ReviewLink>(),
});

export const jobs = table("jobs", {
  tenant: text(),
  key: text(),
  kind: text<JobKind>(),
  lane: text(),
  submission_id: text(),
  run_at: int(),
  attempt: int(),
  leased_until: int(),
});

export const webhooks = table("webhooks", {
  webhook_id: text(),
  tenant: text(),
  defined_by: nullable(text()),
  revision: int(),
  doc: json<Webhook>(),
  state: text<WebhookProgress["state"]>(),
  position: int(),
  ahead: json<WebhookProgress["ahead"]>(),
  retry_at: nullable(int()),
  blocked: nullable(json<WebhookProgress["blocked"]>()),
  failures: int(),
  next_attempt_at: int(),
  last_error: nullable(text()),
  claim: int(),
  leased_until: int(),
});

/** One row: a sealed value for each secret that data may be sealed with. */
export const secretChecks = table("secret_checks", {
  single: int(),
  checks: json<Sealed[]>(),
});

/** Rows are never deleted, even when their submissions are. */
export const publications = table("publications", {
  submission_id: text(),
  tenant: text(),
  intake_id: text(),
  stamped_at: int(),
  status: text<PublicationStatus>(),
  /** Null once erased. */
  content: nullable(json<PublishedContent>()),
});

export const incidents = table("incidents", {
  incident_id: text(),
  tenant: text(),
  cause: text(),
  number: int(),
  revision: int(),
  kind: text<Incident["kind"]>(),
  state: text<Incident["state"]>(),
  submission_id: nullable(text()),
  last_seen_at: int(),
  /** When its responses are due; null once they are done. */
  due_at: nullable(int()),
  doc: json<Incident>(),
});

export const blocks = table("blocks", {
  block_id: text(),
  tenant: text(),
  ends_at: int(),
  doc: json<Block>(),
});

/** In the order in which a copy writes them: no row refers to a table further down. */
export const TABLES = {
  secret_checks: secretChecks,
  definitions,
  intakes,
  api_keys: apiKeys,
  submissions,
  tokens,
  events,
  records,
  handoffs,
  handoff_keys: handoffKeys,
  review_links: reviewLinks,
  jobs,
  webhooks,
  publications,
  incidents,
  blocks,
} as const;
