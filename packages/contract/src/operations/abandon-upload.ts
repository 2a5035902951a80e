import Type, { type Static } from "typebox";
import { missingFields, PendingUploadSchema, submissionMark, validationErrors } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const AbandonUploadRequest = Type.Object(
  { ...writeMark, uploadId: Type.Optional(Type.String()) },
  { additionalProperties: false, examples: [{}] },
);
export type AbandonUploadRequest = Static<typeof AbandonUploadRequest>;

export const AbandonUploadResponse = Type.Object(
  {
    ...submissionMark,
    uploadId: Type.String(),
    missingFields,
    validationErrors,
    pendingUploads: Type.Optional(Type.Array(PendingUploadSchema)),
  },
  { additionalProperties: false },
);
export type AbandonUploadResponse = Static<typeof AbandonUploadResponse>;
