import Type from "typebox";

const UUID_PART = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
/** 32 random bytes in base64url. */
const SECRET_PART = "[A-Za-z0-9_-]{43}";

export const INTAKE_ID_PATTERN = "^[a-z0-9][a-z0-9_-]{0,63}$";
export const SUBMISSION_ID_PATTERN = `^sub_${UUID_PART}$`;
export const RESUME_TOKEN_PATTERN = `^rtok_${SECRET_PART}$`;
export const SESSION_PATTERN = `^sess_${SECRET_PART}$`;
export const REVIEW_LINK_PATTERN = `^rvw_${SECRET_PART}$`;
export const API_KEY_PATTERN = `^fbk_${SECRET_PART}$`;
export const IDEMPOTENCY_KEY_PATTERN = "^[\\x21-\\x7e]{1,255}$";

export const IntakeIdSchema = Type.String({
  pattern: INTAKE_ID_PATTERN,
  description: "Names an intake; unique in a deployment.",
  examples: ["contact"],
});
export const SubmissionIdSchema = Type.String({
  description: "Names a submission.",
  examples: ["sub_01977d3e-8c00-7000-8000-000000000001"],
});
/** No pattern: a malformed token has its own error (`token_invalid`), which the operation returns. */
export const ResumeTokenSchema = Type.String({
  maxLength: 512,
  description: "The rotating credential of one submission. It changes with every write.",
  examples: ["rtok_4WcQ8yq1sVxvJr2mB7nT0pLdK5hGfE3aZ9uXiYoCwNs"],
});
/** No pattern: a malformed idempotency key has its own error, which the operation returns. */
export const IdempotencyKeySchema = Type.String({
  description: "1 to 255 printable ASCII characters without space. Use the same key for every retry of the same call.",
  examples: ["onboard-acme-step-1"],
});
