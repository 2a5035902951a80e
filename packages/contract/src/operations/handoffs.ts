import Type, { type Static } from "typebox";
import { ActorInputSchema, ActorSchema } from "../actor.ts";
import { closedObject } from "../closed-object.ts";
import { ResumeTokenSchema } from "../ids.ts";
import { InstantSchema } from "../states.ts";
import { missingFields, submissionMark } from "../submission.ts";
import { GetSubmissionQuery } from "./get-submission.ts";
import { pageOf, paging } from "./lists.ts";
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

export const CreateHandoffRequest = closedObject(
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
  { examples: [{ actor: { kind: "agent", id: "onboarding_bot" }, kind: "session", expiresInMs: 86_400_000 }] },
);
export type CreateHandoffRequest = Static<typeof CreateHandoffRequest>;

export const CreateHandoffResponse = closedObject({
  ...submissionMark,
  handoffId: Type.String(),
  kind: HandoffKindSchema,
  url: Type.String({ description: "For a human's browser. The code of a magic link is only in the e-mail." }),
  deepLink: Type.String({ description: "The same for an app." }),
  expiresAt: InstantSchema,
  qr: Type.Optional(
    closedObject({
      svg: Type.Optional(Type.String()),
      png: Type.Optional(Type.String({ description: "A data: URL." })),
    }),
  ),
});
export type CreateHandoffResponse = Static<typeof CreateHandoffResponse>;

export const HANDOFF_STATUSES = ["open", "spent", "expired", "revoked"] as const;
const HandoffViewSchema = closedObject({
  handoffId: Type.String(),
  kind: HandoffKindSchema,
  status: Type.Enum([...HANDOFF_STATUSES], { description: "Whether the link can still be opened, or why not." }),
  createdAt: InstantSchema,
  createdBy: ActorSchema,
  expiresAt: InstantSchema,
  revokedAt: Type.Optional(InstantSchema),
  allowedActors: Type.Optional(Type.Array(ActorSchema)),
  recipientEmail: Type.Optional(Type.String()),
  sessions: Type.Array(closedObject({ actor: ActorSchema, openedAt: InstantSchema, expiresAt: InstantSchema }), {
    description: "Who opened the link, and until when they may work.",
  }),
});
export type HandoffView = Static<typeof HandoffViewSchema>;

export const ListHandoffsResponse = closedObject({
  ...submissionMark,
  items: Type.Array(HandoffViewSchema, { description: "Newest first." }),
});
export type ListHandoffsResponse = Static<typeof ListHandoffsResponse>;

export const ListAllHandoffsQuery = closedObject({
  intakeId: Type.Optional(Type.String()),
  kind: Type.Optional(HandoffKindSchema),
  status: Type.Optional(Type.Enum([...HANDOFF_STATUSES])),
  ...paging,
});
export type ListAllHandoffsQuery = Static<typeof ListAllHandoffsQuery>;

const ListedHandoffSchema = closedObject({
  submissionId: Type.String(),
  intakeId: Type.String(),
  ...HandoffViewSchema.properties,
});
export type ListedHandoff = Static<typeof ListedHandoffSchema>;

export const ListAllHandoffsResponse = pageOf(ListedHandoffSchema, { description: "Newest first." });
export type ListAllHandoffsResponse = Static<typeof ListAllHandoffsResponse>;

export const RevokeHandoffRequest = closedObject(
  {
    reason: Type.Optional(Type.String({ maxLength: 2000 })),
    actor: Type.Optional(ActorInputSchema),
    resumeToken: Type.Optional(ResumeTokenSchema),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { examples: [{ reason: "Sent to the wrong person" }] },
);
export type RevokeHandoffRequest = Static<typeof RevokeHandoffRequest>;

export const RevokeHandoffResponse = closedObject({
  ...submissionMark,
  handoffId: Type.String(),
  revoked: Type.Literal(true),
  revokedAt: InstantSchema,
});
export type RevokeHandoffResponse = Static<typeof RevokeHandoffResponse>;

export const CompleteHandoffRequest = closedObject(
  {
    actor: Type.Optional(ActorInputSchema),
    resumeToken: Type.Optional(ResumeTokenSchema),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { examples: [{}] },
);
export type CompleteHandoffRequest = Static<typeof CompleteHandoffRequest>;

export const CompleteHandoffResponse = closedObject({
  ...submissionMark,
  handoffId: Type.String(),
  completedAt: InstantSchema,
  missingFields,
});
export type CompleteHandoffResponse = Static<typeof CompleteHandoffResponse>;

export const OpenSessionRequest = closedObject(
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
    examples: [
      { session: "sess_4WcQ8yq1sVxvJr2mB7nT0pLdK5hGfE3aZ9uXiYoCwNs", actor: { kind: "human", id: "user_jane" } },
    ],
  },
);
export type OpenSessionRequest = Static<typeof OpenSessionRequest>;

export const OpenSessionResponse = closedObject({
  ...submissionMark,
  handoffId: Type.String(),
  actor: ActorSchema,
  expiresAt: InstantSchema,
  message: Type.Optional(Type.String()),
  session: Type.Optional(Type.String({ description: "Only with `carrier: header`; shown only once." })),
});
export type OpenSessionResponse = Static<typeof OpenSessionResponse>;

/**
 * What a link returns to a client that isn't a browser: how to continue. The same for every id, whether it exists or
 * not.
 */
export const ResumeLinkResponse = closedObject({
  ok: Type.Literal(true),
  submissionId: Type.String(),
  opensWith: Type.Enum(["session", "code"]),
  exchange: closedObject({ method: Type.Literal("POST"), path: Type.String() }),
});
export type ResumeLinkResponse = Static<typeof ResumeLinkResponse>;

/** The query of `/resume/{token}`, and of links that name a submission with a session or a code. */
export const ResumeQuery = closedObject({
  ...GetSubmissionQuery.properties,
  session: Type.Optional(Type.String({ maxLength: 512 })),
  code: Type.Optional(Type.String({ maxLength: 64 })),
});
export type ResumeQuery = Static<typeof ResumeQuery>;

export const ResumeByQueryQuery = closedObject({
  ...GetSubmissionQuery.properties,
  token: Type.Optional(ResumeTokenSchema),
});
