import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { JsonObjectSchema } from "../states.ts";
import { missingFields, submissionMark, validationErrors } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const ConfirmUploadRequest = closedObject(
  { ...writeMark, uploadId: Type.Optional(Type.String()) },
  { examples: [{}] },
);
export type ConfirmUploadRequest = Static<typeof ConfirmUploadRequest>;

export const ConfirmUploadResponse = closedObject({
  ...submissionMark,
  fields: JsonObjectSchema,
  missingFields,
  validationErrors,
});
export type ConfirmUploadResponse = Static<typeof ConfirmUploadResponse>;
