import Type, { type Static } from "typebox";
import { JsonObjectSchema } from "../states.ts";
import { missingFields, submissionMark, validationErrors } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const ConfirmUploadRequest = Type.Object(
  { ...writeMark, uploadId: Type.Optional(Type.String()) },
  { additionalProperties: false, examples: [{}] },
);
export type ConfirmUploadRequest = Static<typeof ConfirmUploadRequest>;

export const ConfirmUploadResponse = Type.Object(
  { ...submissionMark, fields: JsonObjectSchema, missingFields, validationErrors },
  { additionalProperties: false },
);
export type ConfirmUploadResponse = Static<typeof ConfirmUploadResponse>;
