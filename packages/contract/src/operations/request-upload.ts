import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { submissionMark } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

/**
 * A media type (RFC 6838), with or without parameters. It is sent back as a header, so only characters that are safe
 * there.
 */
const MIME_TYPE_PATTERN = "^[A-Za-z0-9][\\w!#$&^.+-]*/[A-Za-z0-9][\\w!#$&^.+-]*(?: *;[ -~]*)?$";

export const RequestUploadRequest = closedObject(
  {
    ...writeMark,
    field: Type.String({ minLength: 1, description: "Dot-path of the file field.", examples: ["w9_document"] }),
    filename: Type.String({ minLength: 1, maxLength: 255 }),
    mimeType: Type.String({ pattern: MIME_TYPE_PATTERN, maxLength: 255, examples: ["application/pdf"] }),
    sizeBytes: Type.Integer({ minimum: 1 }),
    sha256: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}$" })),
  },
  { examples: [{ field: "w9_document", filename: "w9.pdf", mimeType: "application/pdf", sizeBytes: 52_428 }] },
);
export type RequestUploadRequest = Static<typeof RequestUploadRequest>;

export const RequestUploadResponse = closedObject({
  ...submissionMark,
  uploadId: Type.String(),
  method: Type.Enum(["PUT", "POST"]),
  url: Type.String(),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  resumable: Type.Optional(
    closedObject(
      {
        protocol: Type.Enum(["tus", "s3-multipart"]),
        url: Type.String({
          description: "tus: the upload itself, already created. s3-multipart: returns URLs for parts.",
        }),
      },
      { description: "An upload method that can continue after an interruption." },
    ),
  ),
  expiresInMs: Type.Integer(),
  constraints: Type.Object({ accept: Type.Array(Type.String()), maxBytes: Type.Integer() }),
});
export type RequestUploadResponse = Static<typeof RequestUploadResponse>;
