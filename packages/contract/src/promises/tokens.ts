import type { ContractPromise } from "./promise.ts";

/** §4: resume tokens and the deadlines of submissions. */
export const TOKENS_PROMISES = [
  { id: "TOKENS-FORMAT", says: "A resume token is rtok_ and 43 base64url characters." },
  { id: "TOKENS-MALFORMED", says: "A malformed token is a 400 token_invalid." },
  { id: "TOKENS-UNKNOWN", says: "A well-formed token that was never issued is a 404 token_invalid." },
  { id: "TOKENS-OTHER-SUBMISSION", says: "A token sent with the id of another submission is a 404 token_invalid." },
  { id: "TOKENS-AT-REST", says: "The database contains tokens as hashes and sealed, never in clear." },
  { id: "TOKENS-BOUND", says: "A sealed token opens only for its own tenant, submission and version." },
  { id: "TOKENS-KEY-ROTATION", says: "The server's secret can be rotated; what the older one sealed still opens." },
  { id: "TOKENS-ROTATE", says: "Every write issues a new token and raises the version by one." },
  { id: "TOKENS-NOT-ROTATED", says: "validate and reads leave the token as it is." },
  {
    id: "TOKENS-SHOWN",
    says: "The token is shown to its holder, to the key that created the submission, and to admins.",
  },
  {
    id: "TOKENS-HIDDEN",
    says: "Viewers and reviewers get no token, in body or header, and an ETag that is the version.",
  },
  { id: "TOKENS-VERSION-ALONE", says: "A version without a token or a key that may hold it authorizes nobody." },
  {
    id: "TOKENS-STALE-WRITE",
    says: "A stale token on a write is a 409 that changes nothing and says how to continue.",
  },
  {
    id: "TOKENS-STALE-FIELDS",
    says: "The 409 names the attempted fields that somebody else changed meanwhile, and only those.",
  },
  { id: "TOKENS-STALE-MASKED", says: "The current values in a 409 are masked where sensitive." },
  {
    id: "TOKENS-STALE-PRIVATE",
    says: "With discloseCurrent: false the holder of a stale token is shown neither token nor values.",
  },
  {
    id: "TOKENS-STALE-CLOSED",
    says: "The holder of a stale token of a submission that is not editable is shown neither token nor values.",
  },
  { id: "TOKENS-STALE-REMEMBERED", says: "A stale token is recognized as stale until its own expiry." },
  { id: "TOKENS-GRACE", says: "For 30 s after its rotation a token reads the current state." },
  { id: "TOKENS-GRACE-OVER", says: "After that a stale token on a read is a 409 token_conflict." },
  { id: "TOKENS-GRACE-PRIVATE", says: "A grace read and a late read disclose no more than the 409 of a write." },
  { id: "TOKENS-EXPIRED", says: "An expired token is a 410 that says why, since when and how to recover." },
  { id: "TOKENS-NONE-IN-410", says: "No 410 carries a token, in body or header." },
  { id: "TOKENS-TTL-DEFAULT", says: "A token lives 7 days unless the intake says otherwise." },
  { id: "TOKENS-TTL-BOUNDS", says: "An intake's token time to live is kept between 1 hour and 30 days." },
  {
    id: "TOKENS-TTL-WITHIN",
    says: "A token never outlives its open submission, even if that makes it shorter than the minimum.",
  },
  { id: "TOKENS-WARNING", says: "In a token's last hour, responses warn with the time left." },
  { id: "TOKENS-SUBMISSION-TTL", says: "A submission's time to live is its own, or the intake's, or 7 days." },
  { id: "TOKENS-TTL-FIXED", says: "Writes do not extend a submission's time to live." },
  { id: "TOKENS-TTL-SHOWN", says: "Reading a submission shows when it expires and how much time is left." },
  { id: "TOKENS-TTL-WARNED", says: "At 80 % of its time to live a submission gets one ttl_warning event." },
  { id: "TOKENS-EXPIRY-LAZY", says: "An overdue submission is expired by the next access." },
  { id: "TOKENS-EXPIRY-SWEPT", says: "An overdue submission that nobody accesses is expired by the sweep." },
  { id: "TOKENS-SKEW", says: "Expiry of tokens and submissions tolerates 30 s." },
  {
    id: "TOKENS-EXPIRED-SUBMISSION",
    says: "A token of an expired submission is a 410 expired, also on reads and after sweeps.",
  },
  {
    id: "TOKENS-LAST-READS",
    says: "The last token of an ended submission can read until it expires, and can't write.",
  },
  { id: "TOKENS-REVOKE", says: "After an operator's revocation every token of the submission is a 410 admin_revoked." },
  { id: "TOKENS-REVOKE-BY-KEY", says: "Revoking needs a key; a resume token alone can't." },
  {
    id: "TOKENS-REISSUE",
    says: "Reissuing, by a key that may hold the token, gives a new one and retires the old ones as admin_revoked.",
  },
  { id: "TOKENS-URL", says: "Every response with a resume token includes the URL of its form." },
  { id: "TOKENS-ADMIN-VERSION", says: "Revoking, reissuing and expiring raise the version." },
] as const satisfies readonly ContractPromise[];
