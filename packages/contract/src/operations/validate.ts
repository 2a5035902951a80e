import Type, { type Static } from "typebox";
import { missingFields, PendingUploadSchema, submissionMark, validationErrors } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const ValidateRequest = Type.Object(writeMark, { additionalProperties: false, examples: [{}] });
export type ValidateRequest = Static<typeof ValidateRequest>;

export const ValidateResponse = Type.Object(
  {
    ...submissionMark,
    ready: Type.Boolean({ description: "A submit would succeed. If not, validationErrors says why." }),
    missingFields,
    validationErrors,
    pendingUploads: Type.Optional(
      Type.Array(PendingUploadSchema, { description: "Announced files that have not been confirmed." }),
    ),
  },
  { additionalProperties: false },
);
export type ValidateResponse = Static<typeof ValidateResponse>;
