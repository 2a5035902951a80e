import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { EVENT_TYPES, type EventType } from "../events.ts";
import { IntakeIdSchema } from "../ids.ts";
import { InstantSchema } from "../states.ts";
import { pageOf, paging } from "./lists.ts";

/** `whsec_` and 24 to 64 bytes in base64, as in Standard Webhooks; the operation checks the length in bytes. */
const SecretSchema = Type.String({
  pattern: "^whsec_[A-Za-z0-9+/]{32,88}={0,2}$",
  description: "The signing secret: whsec_ and 24 to 64 bytes in base64. Generated if absent.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwYZ8eNq0dKDs="],
});

const wanted = {
  types: Type.Optional(
    Type.Array(Type.Enum(Object.keys(EVENT_TYPES) as [EventType, ...EventType[]]), {
      minItems: 1,
      uniqueItems: true,
      description: "Only these; by default all of the submission stream.",
    }),
  ),
  intakes: Type.Optional(
    Type.Array(IntakeIdSchema, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: "Only events of submissions of these intakes; by default of all.",
    }),
  ),
};

export const CreateWebhookRequest = closedObject(
  {
    url: Type.String({ minLength: 1, maxLength: 2000, description: "Where events are posted: http or https." }),
    ...wanted,
    secret: Type.Optional(SecretSchema),
  },
  {
    examples: [{ url: "https://example.com/hooks/formbridge", types: ["submission.finalized"], intakes: ["contact"] }],
  },
);
export type CreateWebhookRequest = Static<typeof CreateWebhookRequest>;

const BlockedSchema = closedObject({
  submissionId: Type.String(),
  eventId: Type.String({ description: "The event that was refused." }),
  failures: Type.Integer({ minimum: 1 }),
  lastError: Type.Optional(Type.String()),
  nextAttemptAt: Type.Optional(InstantSchema),
  dead: Type.Optional(Type.Literal(true, { description: "Given up: skip it, or replay it." })),
});

const WebhookSchema = closedObject({
  webhookId: Type.String({ examples: ["whk_01977d3e-8c00-7000-8000-000000000005"] }),
  url: Type.String({ description: "Without credentials and query." }),
  ...wanted,
  definedBy: Type.Optional(Type.String({ description: "The intake whose definition has it in eventWebhooks." })),
  createdAt: InstantSchema,
  state: Type.Enum(["active", "disabled"], { description: "disabled: nothing is sent until it is enabled." }),
  failures: Type.Integer({
    minimum: 0,
    description: "Consecutive rounds in which the receiver accepted nothing new.",
  }),
  nextAttemptAt: Type.Optional(InstantSchema),
  lastError: Type.Optional(Type.String()),
  paused: Type.Optional(
    Type.Literal(true, { description: "So many submissions are blocked that no new events are read." }),
  ),
  blocked: Type.Optional(
    Type.Array(BlockedSchema, { description: "Submissions whose events wait for one that was refused." }),
  ),
});
export type WebhookView = Static<typeof WebhookSchema>;

export const WebhookResponse = closedObject({ ok: Type.Literal(true), webhook: WebhookSchema });
export type WebhookResponse = Static<typeof WebhookResponse>;

export const CreateWebhookResponse = closedObject({
  ...WebhookResponse.properties,
  secret: Type.String({ description: "Shown only once." }),
});
export type CreateWebhookResponse = Static<typeof CreateWebhookResponse>;

export const ListWebhooksQuery = closedObject(paging);
export type ListWebhooksQuery = Static<typeof ListWebhooksQuery>;

export const ListWebhooksResponse = pageOf(WebhookSchema);
export type ListWebhooksResponse = Static<typeof ListWebhooksResponse>;

export const DeleteWebhookResponse = closedObject({
  ok: Type.Literal(true),
  webhookId: Type.String(),
  deleted: Type.Literal(true),
});
export type DeleteWebhookResponse = Static<typeof DeleteWebhookResponse>;

export const EnableWebhookRequest = closedObject({});

export const RotateWebhookSecretRequest = closedObject({ secret: Type.Optional(SecretSchema) }, { examples: [{}] });
export type RotateWebhookSecretRequest = Static<typeof RotateWebhookSecretRequest>;

export const RotateWebhookSecretResponse = closedObject({
  ok: Type.Literal(true),
  webhookId: Type.String(),
  secret: Type.String({ description: "Shown only once." }),
  oldSecretUntil: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Up to this time messages are also signed with the old secret.",
    }),
  ),
});
export type RotateWebhookSecretResponse = Static<typeof RotateWebhookSecretResponse>;

export const TestWebhookRequest = closedObject({});

export const TestWebhookResponse = closedObject({
  ok: Type.Literal(true),
  webhookId: Type.String(),
  messageId: Type.String({ description: "The webhook-id of the message." }),
  accepted: Type.Boolean({ description: "Whether the receiver accepted it." }),
  latencyMs: Type.Integer(),
  status: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String()),
});
export type TestWebhookResponse = Static<typeof TestWebhookResponse>;

export const SkipEventsRequest = closedObject(
  {
    eventId: Type.Optional(
      Type.String({ maxLength: 100, description: "The refused event to leave out; by default every dead one." }),
    ),
  },
  { examples: [{ eventId: "evt_01977d3e-8c00-7000-8000-000000000003" }] },
);
export type SkipEventsRequest = Static<typeof SkipEventsRequest>;

export const SkipEventsResponse = closedObject({
  ...WebhookResponse.properties,
  skipped: Type.Array(Type.String(), { description: "The events left out." }),
});
export type SkipEventsResponse = Static<typeof SkipEventsResponse>;

export const ReplayEventsRequest = closedObject(
  {
    eventId: Type.Optional(
      Type.String({ maxLength: 100, description: "A refused event; with submissionId, any event of that submission." }),
    ),
    submissionId: Type.Optional(
      Type.String({ maxLength: 100, description: "Its first 100 events, or the named one." }),
    ),
    from: Type.Optional(Type.String({ format: "date-time", description: "Of a range; inclusive." })),
    until: Type.Optional(Type.String({ format: "date-time", description: "Of a range; exclusive." })),
    pageToken: Type.Optional(Type.String({ maxLength: 4096, description: "Continues a range." })),
  },
  {
    description: "Without any member: every dead event.",
    examples: [{ from: "2026-01-29T10:00:00.000Z", until: "2026-01-29T11:00:00.000Z" }],
  },
);
export type ReplayEventsRequest = Static<typeof ReplayEventsRequest>;

export const ReplayEventsResponse = closedObject({
  ok: Type.Literal(true),
  webhookId: Type.String(),
  queued: Type.Array(Type.String(), { description: "Refused events that are retried, in their order." }),
  sent: Type.Integer({ description: "Events that were sent again and accepted." }),
  failed: Type.Array(closedObject({ eventId: Type.String(), submissionId: Type.String(), error: Type.String() })),
  notTried: Type.Integer({ description: "Left out because an earlier one failed, or time ran out." }),
  nextPageToken: Type.Optional(Type.String({ description: "There is more in the range." })),
});
export type ReplayEventsResponse = Static<typeof ReplayEventsResponse>;
