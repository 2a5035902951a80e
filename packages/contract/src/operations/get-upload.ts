import Type, { type Static } from "typebox";
import { InstantSchema } from "../states.ts";
import { submissionMark } from "../submission.ts";

export const GetUploadResponse = Type.Object(
  {
    ...submissionMark,
    uploadId: Type.String(),
    url: Type.String({ description: "Downloads the file, until expiresAt." }),
    expiresAt: InstantSchema,
    filename: Type.String(),
    mimeType: Type.String(),
    sizeBytes: Type.Integer(),
    sha256: Type.String(),
  },
  { additionalProperties: false },
);
export type GetUploadResponse = Static<typeof GetUploadResponse>;

/** The query string of a signed URL. */
export const GrantQuery = Type.Object({ grant: Type.String({ minLength: 1 }) }, { additionalProperties: false });
export type GrantQuery = Static<typeof GrantQuery>;

export const ReceiveUploadResponse = Type.Object(
  { ok: Type.Literal(true), submissionId: Type.String(), uploadId: Type.String(), sizeBytes: Type.Integer() },
  { additionalProperties: false },
);
