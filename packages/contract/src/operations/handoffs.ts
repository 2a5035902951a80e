import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { ResumeTokenSchema } from "../ids.ts";
import { InstantSchema } from "../states.ts";
import { missingFields, submissionMark } from "../submission.ts";
import { GetSubmissionQuery } from "./get-submission.ts";
import { pageEnd, paging } from "./lists.ts";
import { writeMark } from "./set-fields.ts";

/** The kinds of hand-off, by what the link contains. */
export const HANDOFF_KINDS = ["session", "direct", "magic_link", "qr"] as const;
export type HandoffKind = (typeof HANDOFF_KINDS)[number];
const HandoffKindSchema = Type.Enum([...HANDOFF_KINDS], {
  description:
    "session: a link that outlives writes (default). qr: the same, short-lived, as an image. magic_link: a code by e-mail. " +
    "direct: the current token itself.",
});

const EmailSchema = Type.String({ format: "email", maxLength: 254, examples: ["jane@example.com"] });
const AllowedActorsSchema = Type.Array(ActorInputSchema, {
  minItems: 1,
  maxItems: 20,
  description: "Who may open the link; writes are attributed to them. Without it: any human.",
});

export const CreateHandoffRequest = Type.Object(
  {
    ...writeMark,
    kind: Type.Optional(HandoffKindSchema),
    expiresInMs: Type.Optional(
      Type.Integer({
        description: "How long the link can be opened: 1 minute to 30 days, at most until the submission expires.",
      }),
    ),
    allowedActors: Type.Optional(AllowedActorsSchema),
    recipientEmail: Type.Optional(
      Type.Unsafe<string>({ ...EmailSchema, description: "Where the link is mailed to; a magic link needs it." }),
    ),
    message: Type.Optional(Type.String({ maxLength: 2000, description: "Shown to the person who opens the link." })),
    qrFormat: Type.Optional(
      Type.Enum(["svg", "png"], { description: "The link as an image, of any kind of hand-off." }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ actor: { kind: "agent", id: "onboarding_bot" }, kind: "session", expiresInMs: 86_400_000 }],
  },
);
export type CreateHandoffRequest = Static<typeof CreateHandoffRequest>;

export const CreateHandoffResponse = Type.Object(
  {
    ...submissionMark,
    handoffId: Type.String(),
    kind: HandoffKindSchema,
    url: Type.String({ description: "For a human's browser. The code of a magic link is only in the e-mail." }),
    deepLink: Type.String({ description: "The same for an app." }),
    expiresAt: InstantSchema,
    qr: Type.Optional(
      Type.Object(
        {
          svg: Type.Optional(Type.String()),
          png: Type.Optional(Type.String({ description: "A data: URL." })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type CreateHandoffResponse = Static<typeof CreateHandoffResponse>;

export const HANDOFF_STATUSES = ["open", "spent", "expired", "revoked"] as const;
const HandoffViewSchema = Type.Object(
  {
    handoffId: Type.String(),
    kind: HandoffKindSchema,
    status: Type.Enum([...HANDOFF_STATUSES], { description: "Whether the link can still be opened, or why not." }),
    createdAt: InstantSchema,
    createdBy: ActorSchema,
    expiresAt: InstantSchema,
    revokedAt: Type.Optional(InstantSchema),
    allowedActors: Type.Optional(Type.Array(ActorSchema)),
    recipientEmail: Type.Optional(Type.String()),
    sessions: Type.Array(
      Type.Object(
        { actor: ActorSchema, openedAt: InstantSchema, expiresAt: InstantSchema },
        { additionalProperties: false },
      ),
      { description: "Who opened the link, and until when they may work." },
    ),
  },
  { additionalProperties: false },
);
export type HandoffView = Static<typeof HandoffViewSchema>;

export const ListHandoffsResponse = Type.Object(
  { ...submissionMark, items: Type.Array(HandoffViewSchema, { description: "Newest first." }) },
  { additionalProperties: false },
);
export type ListHandoffsResponse = Static<typeof ListHandoffsResponse>;

export const ListAllHandoffsQuery = Type.Object(
  {
    intakeId: Type.Optional(Type.String()),
    kind: Type.Optional(HandoffKindSchema),
    status: Type.Optional(Type.Enum([...HANDOFF_STATUSES])),
    ...paging,
  },
  { additionalProperties: false },
);
export type ListAllHandoffsQuery = Static<typeof ListAllHandoffsQuery>;

const ListedHandoffSchema = Type.Object(
  { submissionId: Type.String(), intakeId: Type.String(), ...HandoffViewSchema.properties },
  { additionalProperties: false },
);
export type ListedHandoff = Static<typeof ListedHandoffSchema>;

export const ListAllHandoffsResponse = Type.Object(
  { ok: Type.Literal(true), items: Type.Array(ListedHandoffSchema, { description: "Newest first." }), ...pageEnd },
  { additionalProperties: false },
);
export type ListAllHandoffsResponse = Static<typeof ListAllHandoffsResponse>;

export const RevokeHandoffRequest = Type.Object(
  {
    reason: Type.Optional(Type.String({ maxLength: 2000 })),
    actor: Type.Optional(ActorInputSchema),
    resumeToken: Type.Optional(ResumeTokenSchema),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false, examples: [{ reason: "Sent to the wrong person" }] },
);
export type RevokeHandoffRequest = Static<typeof RevokeHandoffRequest>;

export const RevokeHandoffResponse = Type.Object(
  { ...submissionMark, handoffId: Type.String(), revoked: Type.Literal(true), revokedAt: InstantSchema },
  { additionalProperties: false },
);
export type RevokeHandoffResponse = Static<typeof RevokeHandoffResponse>;

export const CompleteHandoffRequest = Type.Object(
  {
    actor: Type.Optional(ActorInputSchema),
    resumeToken: Type.Optional(ResumeTokenSchema),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false, examples: [{}] },
);
export type CompleteHandoffRequest = Static<typeof CompleteHandoffRequest>;

export const CompleteHandoffResponse = Type.Object(
  { ...submissionMark, handoffId: Type.String(), completedAt: InstantSchema, missingFields },
  { additionalProperties: false },
);
export type CompleteHandoffResponse = Static<typeof CompleteHandoffResponse>;

export const OpenSessionRequest = Type.Object(
  {
    session: Type.Optional(
      Type.String({
        maxLength: 512,
        description: "The part of the link after `session=`.",
        examples: ["sess_4WcQ8yq1sVxvJr2mB7nT0pLdK5hGfE3aZ9uXiYoCwNs"],
      }),
    ),
    code: Type.Optional(Type.String({ maxLength: 64, description: "The code from the e-mail." })),
    email: Type.Optional(Type.String({ maxLength: 254, description: "With a code: the address that it was sent to." })),
    actor: Type.Optional(ActorInputSchema),
    carrier: Type.Optional(
      Type.Enum(["cookie", "header"], {
        description:
          "How the session is sent from now on: an HttpOnly cookie (default), or `Authorization: Bearer sess_…`.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [
      { session: "sess_4WcQ8yq1sVxvJr2mB7nT0pLdK5hGfE3aZ9uXiYoCwNs", actor: { kind: "human", id: "user_jane" } },
    ],
  },
);
export type OpenSessionRequest = Static<typeof OpenSessionRequest>;

export const OpenSessionResponse = Type.Object(
  {
    ...submissionMark,
    handoffId: Type.String(),
    actor: ActorSchema,
    expiresAt: InstantSchema,
    message: Type.Optional(Type.String()),
    session: Type.Optional(Type.String({ description: "Only with `carrier: header`; shown only once." })),
  },
  { additionalProperties: false },
);
export type OpenSessionResponse = Static<typeof OpenSessionResponse>;

/**
 * What a link returns to a client that isn't a browser: how to continue. The same for every id, whether it exists or
 * not.
 */
export const ResumeLinkResponse = Type.Object(
  {
    ok: Type.Literal(true),
    submissionId: Type.String(),
    opensWith: Type.Enum(["session", "code"]),
    exchange: Type.Object({ method: Type.Literal("POST"), path: Type.String() }, { additionalProperties: false }),
  },
  { additionalProperties: false },
);
export type ResumeLinkResponse = Static<typeof ResumeLinkResponse>;

/** The query of `/resume/{token}`, and of links that name a submission with a session or a code. */
export const ResumeQuery = Type.Object(
  {
    ...GetSubmissionQuery.properties,
    session: Type.Optional(Type.String({ maxLength: 512 })),
    code: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
);
export type ResumeQuery = Static<typeof ResumeQuery>;

export const ResumeByQueryQuery = Type.Object(
  { ...GetSubmissionQuery.properties, token: Type.Optional(ResumeTokenSchema) },
  { additionalProperties: false },
);
