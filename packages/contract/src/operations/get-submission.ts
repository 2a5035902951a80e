export { type SubmissionRecord, SubmissionRecordSchema as GetSubmissionResponse } from "../submission.ts";
