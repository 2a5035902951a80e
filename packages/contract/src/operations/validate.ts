import Type, { type Static } from "typebox";
import { closedObject } from "../closed-object.ts";
import { missingFields, PendingUploadSchema, submissionMark, validationErrors } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const ValidateRequest = closedObject(writeMark, { examples: [{}] });
export type ValidateRequest = Static<typeof ValidateRequest>;

export const ValidateResponse = closedObject({
  ...submissionMark,
  ready: Type.Boolean({ description: "A submit would succeed. If not, validationErrors says why." }),
  missingFields,
  validationErrors,
  pendingUploads: Type.Optional(
    Type.Array(PendingUploadSchema, { description: "Announced files that have not been confirmed." }),
  ),
});
export type ValidateResponse = Static<typeof ValidateResponse>;
