export {
  type CreateOptions,
  createClient,
  type Decision,
  type FormBridgeClient,
  type ListOptions,
} from "./client.ts";
export { type ClientErrorType, type FieldConflict, FormBridgeError, MergeConflictError } from "./error.ts";
export type { FieldsOf, FileValue } from "./fields-of.ts";
export type { Resolution } from "./merge.ts";
export {
  type CallOptions,
  type ClientOptions,
  type KeyedOptions,
  newIdempotencyKey,
  type RetryOptions,
  type Telemetry,
} from "./options.ts";
export type { UploadTicket } from "./send-file.ts";
export type { SetOptions } from "./set-with-merge.ts";
export type { Submission } from "./submission.ts";
export type { FileToSend, FileUpload, UploadOptions } from "./upload.ts";
export type { WatchOptions } from "./watch.ts";
