export { type Actor, type ActorInput, ActorInputSchema, ActorSchema, type EventActor, type Proof } from "./actor.ts";
export * from "./alarms.ts";
export { cutSecrets } from "./cut-secrets.ts";
export type { DeliveryState } from "./delivery-state.ts";
export { isReservedHeader, QUEUE_SCHEMES, WEBHOOK_SCHEMES } from "./destination.ts";
export { EDITABLE_STATES } from "./editable-states.ts";
export {
  ERROR_TYPES,
  type ErrorBody,
  ErrorBodySchema,
  type ErrorDetail,
  type ErrorType,
  type FieldError,
  type NextAction,
} from "./errors.ts";
export { CALLER_FIELDS, EVENT_PAYLOADS } from "./event-payloads.ts";
export {
  EVENT_STREAMS,
  EVENT_TYPES,
  type EventProof,
  type EventStream,
  type EventType,
  type IntakeEvent,
  IntakeEventSchema,
} from "./events.ts";
export {
  API_KEY_PATTERN,
  IDEMPOTENCY_KEY_PATTERN,
  IdempotencyKeySchema,
  INTAKE_ID_PATTERN,
  RESUME_TOKEN_PATTERN,
  REVIEW_LINK_PATTERN,
  SESSION_PATTERN,
  SUBMISSION_ID_PATTERN,
  SubmissionIdSchema,
} from "./ids.ts";
export {
  type ApprovalGate,
  type CallbackDestination,
  type Destination,
  type DestinationInput,
  type FileReference,
  type FileRule,
  FileRuleSchema,
  type IntakeDefinition,
  IntakeDefinitionSchema,
  type QueueDestination,
  type ReviewerGroup,
  type ReviewerSpec,
  type WebhookDestination,
} from "./intake.ts";
export * from "./operations/abandon-upload.ts";
export * from "./operations/cancel.ts";
export * from "./operations/confirm-upload.ts";
export * from "./operations/create-submission.ts";
export * from "./operations/deliveries.ts";
export * from "./operations/erase-actor.ts";
export * from "./operations/erase-submission.ts";
export * from "./operations/get-events.ts";
export * from "./operations/get-submission.ts";
export * from "./operations/get-submission-intake.ts";
export * from "./operations/get-upload.ts";
export * from "./operations/handoffs.ts";
export * from "./operations/incidents.ts";
export * from "./operations/intakes.ts";
export * from "./operations/keys.ts";
export {
  ListEventsQuery,
  ListEventsResponse,
  ListSubmissionsQuery,
  ListSubmissionsResponse,
} from "./operations/lists.ts";
export * from "./operations/reassign-review.ts";
export * from "./operations/request-upload.ts";
export * from "./operations/retry-delivery.ts";
export {
  ListReviewsQuery,
  ListReviewsResponse,
  type ReviewItem,
  ReviewRequest,
  ReviewResponse,
  ShowReviewResponse,
} from "./operations/review.ts";
export { SetFieldsRequest, SetFieldsResponse } from "./operations/set-fields.ts";
export * from "./operations/sign-parts.ts";
export * from "./operations/submit.ts";
export * from "./operations/tokens.ts";
export * from "./operations/validate.ts";
export * from "./operations/webhooks.ts";
export type { FieldHint, Translation } from "./presentation.ts";
export { PROMISES } from "./promises/index.ts";
export type { ContractPromise } from "./promises/promise.ts";
export { type Json, type JsonObject, SUBMISSION_STATES, type SubmissionState } from "./states.ts";
export type { SubmissionSummary } from "./submission.ts";
export { translationFor } from "./translation-for.ts";
