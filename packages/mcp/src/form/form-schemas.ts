import {
  ActorInputSchema,
  ActorSchema,
  GetEventsResponse,
  GetSubmissionIntakeResponse,
  IdempotencyKeySchema,
  RequestUploadRequest,
  RequestUploadResponse,
  SubmissionIdSchema,
  GetSubmissionResponse as SubmissionRecordSchema,
} from "@formbridge/contract";
import Type, { type Static } from "typebox";

const upload = RequestUploadRequest.properties;

/**
 * What the form calls. One tool with an action parameter, so that hosts that list it to their model list one tool
 * rather than six.
 */
export const FormArgumentsSchema = Type.Object(
  {
    action: Type.Enum(
      ["open", "read", "intake", "events", "save", "upload", "confirm", "abandon", "complete", "submit"],
      {
        description: "open: exchange a hand-off link or code for a session. The others act in that session.",
      },
    ),
    submissionId: SubmissionIdSchema,
    session: Type.Optional(
      Type.String({
        maxLength: 512,
        description: "open: the part of the link after `session=`. Then: what open returned.",
      }),
    ),
    code: Type.Optional(Type.String({ maxLength: 64, description: "open: the code from the e-mail." })),
    email: Type.Optional(Type.String({ maxLength: 254, description: "open: the address that the code was sent to." })),
    actor: Type.Optional(ActorInputSchema),
    version: Type.Optional(Type.Integer({ minimum: 1, description: "The version that a write is based on." })),
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "save: a JSON Merge Patch." })),
    field: Type.Optional(upload.field),
    filename: Type.Optional(upload.filename),
    mimeType: Type.Optional(upload.mimeType),
    sizeBytes: Type.Optional(upload.sizeBytes),
    uploadId: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "confirm, abandon: the upload." })),
    afterEventId: Type.Optional(Type.String({ maxLength: 64, description: "events: the last one that was seen." })),
    idempotencyKey: Type.Optional(IdempotencyKeySchema),
  },
  { additionalProperties: false },
);
export type FormArguments = Static<typeof FormArgumentsSchema>;

const mark = SubmissionRecordSchema.properties;

/**
 * What each action returns besides the submission's state: its record, the session, what to render, its events, or
 * where to upload a file.
 */
export const FormAnswerSchema = Type.Object({
  ok: mark.ok,
  submissionId: mark.submissionId,
  state: mark.state,
  version: mark.version,
  record: Type.Optional(SubmissionRecordSchema),
  session: Type.Optional(Type.String()),
  handoffId: Type.Optional(Type.String()),
  actor: Type.Optional(ActorSchema),
  expiresAt: mark.expiresAt,
  message: Type.Optional(Type.String()),
  shown: Type.Optional(GetSubmissionIntakeResponse),
  history: Type.Optional(GetEventsResponse),
  upload: Type.Optional(
    Type.Object({
      uploadId: Type.String(),
      method: Type.String(),
      url: Type.String(),
      headers: Type.Optional(Type.Record(Type.String(), Type.String())),
      resumable: RequestUploadResponse.properties.resumable,
    }),
  ),
});
