import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { InstantSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";

export const GetUploadResponse = closedObject({
  ...submissionMark,
  uploadId: Type.String(),
  url: Type.String({ description: "Downloads the file, until expiresAt." }),
  expiresAt: InstantSchema,
  filename: Type.String(),
  mimeType: Type.String(),
  sizeBytes: Type.Integer(),
  sha256: Type.String(),
});
export type GetUploadResponse = Static<typeof GetUploadResponse>;

/** The query string of a signed URL. */
export const GrantQuery = closedObject({ grant: Type.String({ minLength: 1 }) });
export type GrantQuery = Static<typeof GrantQuery>;

export const ReceiveUploadResponse = closedObject({
  ok: Type.Literal(true),
  submissionId: Type.String(),
  uploadId: Type.String(),
  sizeBytes: Type.Integer(),
});
