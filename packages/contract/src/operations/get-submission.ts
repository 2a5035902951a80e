import Type from "typebox";

export {
  type FileLink,
  type SubmissionRecord,
  SubmissionRecordSchema as GetSubmissionResponse,
} from "../submission.ts";

/** A hand-off link may carry hints for its page; they are ignored here. */
export const GetSubmissionQuery = Type.Object(
  { hint: Type.Optional(Type.String()), intake: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
