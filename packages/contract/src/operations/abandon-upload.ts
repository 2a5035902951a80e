import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { missingFields, PendingUploadSchema, submissionMark, validationErrors } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const AbandonUploadRequest = closedObject(
  { ...writeMark, uploadId: Type.Optional(Type.String()) },
  { examples: [{}] },
);
export type AbandonUploadRequest = Static<typeof AbandonUploadRequest>;

export const AbandonUploadResponse = closedObject({
  ...submissionMark,
  uploadId: Type.String(),
  missingFields,
  validationErrors,
  pendingUploads: Type.Optional(Type.Array(PendingUploadSchema)),
});
export type AbandonUploadResponse = Static<typeof AbandonUploadResponse>;
