import Type from "typebox";

export { type SubmissionRecord, SubmissionRecordSchema as GetSubmissionResponse } from "../submission.ts";

/** A hand-off link may carry hints for the page that it opens; nothing is read from them here. */
export const GetSubmissionQuery = Type.Object(
  { hint: Type.Optional(Type.String()), intake: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
