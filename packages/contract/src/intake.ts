import Type, { type Static } from "typebox";
import { AlarmPoliciesSchema } from "./alarms.ts";
import { closedObject } from "./closed-object.ts";
import { INTAKE_ID_PATTERN } from "./ids.ts";
import { BrandingSchema, TranslationSchema, UiHintsSchema } from "./presentation.ts";
import { JsonObjectSchema } from "./states.ts";

/** A hundred years, so that the resulting time can still be written as a date. */
const MAX_DURATION_MS = 3_155_760_000_000;
const duration = (minimum: number, more: { description?: string } = {}) =>
  Type.Integer({ minimum, maximum: MAX_DURATION_MS, ...more });

const reviewerGroup = {
  ids: Type.Optional(Type.Array(Type.String(), { description: "Actor ids." })),
  roles: Type.Optional(Type.Array(Type.String(), { description: "Roles of the reviewer's key." })),
  emails: Type.Optional(Type.Array(Type.String())),
};
export const ReviewerGroupSchema = closedObject(reviewerGroup);
export type ReviewerGroup = Static<typeof ReviewerGroupSchema>;
export const ReviewerSpecSchema = closedObject({
  ...reviewerGroup,
  allowAgents: Type.Optional(Type.Boolean({ description: "true: agents may decide too. Only humans by default." })),
  escalateTo: Type.Optional(ReviewerGroupSchema),
});
export type ReviewerSpec = Static<typeof ReviewerSpecSchema>;

export const ApprovalGateSchema = closedObject({
  name: Type.String({ minLength: 1, maxLength: 100, examples: ["compliance_review"] }),
  label: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "The name that people see.", examples: ["Compliance"] }),
  ),
  reviewers: ReviewerSpecSchema,
  requiredApprovals: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: "Distinct people; 1 by default." }),
  ),
  autoApproveIf: Type.Optional(
    Type.Unknown({ description: "JSON Logic over { fields, submission, actor }; true approves without a reviewer." }),
  ),
  escalateAfterMs: Type.Optional(duration(1000)),
});
export type ApprovalGate = Static<typeof ApprovalGateSchema>;

export const RetryPolicySchema = closedObject({
  maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  initialDelayMs: Type.Optional(duration(1)),
  maxDelayMs: Type.Optional(duration(1)),
  factor: Type.Optional(Type.Number({ minimum: 1 })),
  jitter: Type.Optional(Type.Boolean()),
});

/**
 * As sent. Which members a kind needs is checked with the definition, where the error can say what is missing and why.
 */
export const DestinationSchema = closedObject({
  kind: Type.Enum(["webhook", "callback", "queue", "store"], {
    description: "`store` keeps the submission here and finalizes it at once.",
  }),
  url: Type.Optional(Type.String({ maxLength: 2000 })),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  secret: Type.Optional(Type.String({ description: "Never shown again." })),
  retryPolicy: Type.Optional(RetryPolicySchema),
});
export type DestinationInput = Static<typeof DestinationSchema>;

type SendOptions = Pick<DestinationInput, "headers" | "secret" | "retryPolicy">;
export type WebhookDestination = SendOptions & { kind: "webhook"; url: string };
export type QueueDestination = SendOptions & { kind: "queue"; url: string; name: string };
export type CallbackDestination = SendOptions & { kind: "callback"; name: string };
export type StoreDestination = SendOptions & { kind: "store" };

/** A destination that was checked: each kind has the members it needs. */
export type Destination = WebhookDestination | QueueDestination | CallbackDestination | StoreDestination;

export const IntakeDefinitionSchema = closedObject(
  {
    id: Type.String({ pattern: INTAKE_ID_PATTERN }),
    version: Type.String({ minLength: 1, maxLength: 50, examples: ["1.0.0"] }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    description: Type.Optional(Type.String({ maxLength: 5000 })),
    schema: JsonObjectSchema,
    access: Type.Optional(Type.Enum(["key", "public"], { description: "Who may create; `key` by default." })),
    approvalGates: Type.Optional(Type.Array(ApprovalGateSchema, { maxItems: 20 })),
    ttlMs: Type.Optional(duration(1000, { description: "How long a submission stays open." })),
    destination: DestinationSchema,
    idempotency: Type.Optional(
      closedObject({ enabled: Type.Optional(Type.Boolean()), ttlMs: Type.Optional(duration(1)) }),
    ),
    tokens: Type.Optional(
      closedObject({
        ttlMs: Type.Optional(duration(1)),
        discloseCurrent: Type.Optional(
          Type.Boolean({
            description: "false: the holder of a stale token gets neither the current token nor the values.",
          }),
        ),
      }),
    ),
    eventWebhooks: Type.Optional(
      Type.Array(
        closedObject({
          url: Type.String({ maxLength: 2000 }),
          types: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
          secret: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: "Never shown again." })),
        }),
        { maxItems: 20, description: "Receivers of the events of its submissions." },
      ),
    ),
    retention: Type.Optional(
      closedObject({ deleteAfterMs: Type.Optional(duration(1000)), archive: Type.Optional(Type.Boolean()) }),
    ),
    oai: Type.Optional(
      closedObject(
        {
          set: Type.Optional(
            Type.Boolean({
              description: "true: submissions created from now on are published at /oai once finalized.",
            }),
          ),
          dc: Type.Optional(
            Type.Record(Type.String(), Type.String(), { description: "From Dublin Core element to field path." }),
          ),
          fields: Type.Optional(
            Type.Array(Type.String(), {
              maxItems: 500,
              description: "Field paths that the full record has in addition.",
            }),
          ),
        },
        { description: "What harvesters get; a field that is not named is never published." },
      ),
    ),
    humanProof: Type.Optional(
      Type.Enum(["link", "code"], {
        description:
          "How a human must be identified to set human-only fields; with `code`, a link alone is not enough. `link` by default.",
      }),
    ),
    sensitive: Type.Optional(
      closedObject({
        visibleToAgents: Type.Optional(Type.Boolean({ description: "true: agents get sensitive values in clear." })),
      }),
    ),
    alarms: Type.Optional(AlarmPoliciesSchema),
    uiHints: Type.Optional(UiHintsSchema),
    translations: Type.Optional(
      Type.Record(Type.String(), TranslationSchema, { description: "By language (BCP 47): what a form shows in it." }),
    ),
    branding: Type.Optional(BrandingSchema),
  },
  { description: "A JSON Schema with approval gates and a destination." },
);
export type IntakeDefinition = Omit<Static<typeof IntakeDefinitionSchema>, "destination"> & {
  destination: Destination;
};

/** What callers see: the definition without what only the server needs. */
export const IntakeViewSchema = closedObject({
  ...IntakeDefinitionSchema.properties,
  retired: Type.Optional(Type.Boolean()),
  source: Type.Optional(Type.Enum(["folder", "api"])),
});

export interface FileReference {
  uploadId: string;
  filename: string;
  mimeType: string;
  sizeBytes: number;
  sha256: string;
  url?: string;
}
/** The value of `x-file` on a property. */
export const FileRuleSchema = closedObject({
  accept: Type.Array(Type.String(), { minItems: 1 }),
  maxBytes: Type.Integer({ minimum: 1 }),
  maxFiles: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});
export type FileRule = Static<typeof FileRuleSchema>;
