import Type, { type Static } from "typebox";
import { missingFields, submissionMark, validationErrors } from "../submission.ts";
import { writeMark } from "./set-fields.ts";

export const ValidateRequest = Type.Object(writeMark, { additionalProperties: false, examples: [{}] });
export type ValidateRequest = Static<typeof ValidateRequest>;

export const ValidateResponse = Type.Object(
  { ...submissionMark, ready: Type.Boolean(), missingFields, validationErrors },
  { additionalProperties: false },
);
export type ValidateResponse = Static<typeof ValidateResponse>;
