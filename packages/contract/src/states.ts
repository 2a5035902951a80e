import Type from "typebox";

export const SUBMISSION_STATES = [
  "draft",
  "in_progress",
  "awaiting_input",
  "awaiting_upload",
  "submitted",
  "needs_review",
  "approved",
  "rejected",
  "finalized",
  "cancelled",
  "expired",
] as const;

export const SubmissionStateSchema = Type.Enum([...SUBMISSION_STATES], {
  description: "The state of a submission. finalized, cancelled and expired are final.",
});
export type SubmissionState = (typeof SUBMISSION_STATES)[number];

export const JsonObjectSchema = Type.Record(Type.String(), Type.Unknown(), { description: "Any JSON object." });
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const InstantSchema = Type.String({
  format: "date-time",
  description: "ISO 8601 in UTC with milliseconds.",
  examples: ["2026-01-29T10:00:00.000Z"],
});
