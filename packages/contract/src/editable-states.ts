import type { SubmissionState } from "./states.ts";

/** The states in which a submission can be edited. In a separate file, so that pages can use it without the schemas. */
export const EDITABLE_STATES = [
  "draft",
  "in_progress",
  "awaiting_input",
  "awaiting_upload",
  "rejected",
] as const satisfies readonly SubmissionState[];
