import Type from "typebox";
import { closedObject } from "../closed-object.ts";

export {
  type FileLink,
  type SubmissionRecord,
  SubmissionRecordSchema as GetSubmissionResponse,
} from "../submission.ts";

/** A hand-off link may carry hints for its page; they are ignored here. */
export const GetSubmissionQuery = closedObject({
  hint: Type.Optional(Type.String()),
  intake: Type.Optional(Type.String()),
});
