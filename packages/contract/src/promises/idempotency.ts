import type { ContractPromise } from "./promise.ts";

/** What a caller can rely on when a call is made twice. */
export const IDEMPOTENCY_PROMISES = [
  { id: "IDEMPOTENCY-OPTIONAL", says: "Create and setFields work without a key, and then every call is a new one." },
  {
    id: "IDEMPOTENCY-SUBMIT-NEEDS-KEY",
    says: "A submit without a key is a 400 that asks for one and changes nothing.",
  },
  { id: "IDEMPOTENCY-HEADER-OR-BODY", says: "The key may be in a header or in the body; it is the same key." },
  { id: "IDEMPOTENCY-HEADER-WINS", says: "When header and body name different keys, the header's counts." },
  { id: "IDEMPOTENCY-KEY-FORMAT", says: "A key is 1 to 255 visible ASCII characters; any other is a 400 bad_request." },
  { id: "IDEMPOTENCY-ANONYMOUS-LENGTH", says: "A create without authentication needs a key of 32 characters." },
  {
    id: "IDEMPOTENCY-MARK",
    says: "A response has `_idempotent` exactly when a key was given: false the first time, true on a replay.",
  },
  {
    id: "IDEMPOTENCY-REPLAY-CREATE",
    says: "A repeated create creates nothing: 200, the same submission as it is now, its current token, replayCount raised.",
  },
  {
    id: "IDEMPOTENCY-REPLAY-SET-FIELDS",
    says: "A repeated setFields gets the original response, with its token and version.",
  },
  { id: "IDEMPOTENCY-REPLAY-SUBMIT", says: "A repeated submit gets the original response and submits nothing." },
  {
    id: "IDEMPOTENCY-REPLAY-HEADERS",
    says: "A replay has Idempotent-Replayed and the ISO 8601 time of the original; a first response has neither.",
  },
  {
    id: "IDEMPOTENCY-REPLAY-NO-EFFECT",
    says: "A replay leaves one submission.replayed event and moves neither version, token nor values.",
  },
  { id: "IDEMPOTENCY-REPLAY-COUNT", says: "replayCount counts the replays of the create, not those of other calls." },
  {
    id: "IDEMPOTENCY-BEFORE-STALE",
    says: "A retry with the token that its original used up gets the recorded response instead of a 409.",
  },
  {
    id: "IDEMPOTENCY-REPLAY-TO-HOLDER",
    says: "A recorded write is replayed to the holder of its original token or of the current one, not of one in between.",
  },
  {
    id: "IDEMPOTENCY-REPLAY-TO-MAKER",
    says: "A record is replayed to the actor that made it, with any API key; another caller's 409 names nothing.",
  },
  {
    id: "IDEMPOTENCY-CONFLICT",
    says: "A key reused for another request is a 409 conflict, not retryable, that names the submission.",
  },
  { id: "IDEMPOTENCY-CONFLICT-ANONYMOUS", says: "Without authentication, the 409 of a used key names nothing." },
  {
    id: "IDEMPOTENCY-MEANING-CREATE",
    says: "Two creates are the same by actor kind and id, initial fields and ttlMs; spelling, order and names do not count.",
  },
  { id: "IDEMPOTENCY-MEANING-SET-FIELDS", says: "Two setFields are the same by submission and fields." },
  {
    id: "IDEMPOTENCY-MEANING-SUBMIT",
    says: "Two submits are the same by submission and the version they were made on.",
  },
  {
    id: "IDEMPOTENCY-SAME-SUBMIT",
    says: "A submit repeated with the current token is a replay as long as nothing was written since it succeeded.",
  },
  {
    id: "IDEMPOTENCY-SCOPE",
    says: "The same key in another intake, operation or tenant is a different key.",
  },
  {
    id: "IDEMPOTENCY-RECORDED-422",
    says: "A failed submit is recorded: the identical request gets the same 422 again.",
  },
  {
    id: "IDEMPOTENCY-MENDED-422",
    says: "After the fields were corrected, the key of a failed submit can be used for a new attempt.",
  },
  {
    id: "IDEMPOTENCY-REFUSALS-FREE",
    says: "A refusal that committed nothing leaves its key free for another request.",
  },
  {
    id: "IDEMPOTENCY-SEALED",
    says: "Keys are stored as hashes and recorded responses are sealed: the file shows neither.",
  },
  {
    id: "IDEMPOTENCY-CONCURRENT",
    says: "Of many simultaneous calls with one key one executes, and all others get its replay.",
  },
  {
    id: "IDEMPOTENCY-WAIT-LIMIT",
    says: "A call that waits too long for another one with its key gets a retryable 503 locked.",
  },
  {
    id: "IDEMPOTENCY-WAITERS-LIMIT",
    says: "Beyond the number that may queue for one key, a call waits outside the queue; it gets the replay, or a 503 locked after the full wait.",
  },
  {
    id: "IDEMPOTENCY-RETENTION",
    says: "The response to a setFields is kept for 24 hours after it was recorded; then its key is free.",
  },
  { id: "IDEMPOTENCY-RETENTION-INTAKE", says: "An intake may set how long its records are kept." },
  { id: "IDEMPOTENCY-RETENTION-END", says: "Create and submit records outlive their submission's end by 24 hours." },
  { id: "IDEMPOTENCY-RETENTION-SETTING", says: "One setting changes both retention times." },
  { id: "IDEMPOTENCY-TEST-TTL", says: "X-Idempotency-TTL shortens a record only where test headers are switched on." },
  {
    id: "IDEMPOTENCY-EXPIRED-CREATE",
    says: "A create retried after its submission expired is a 410 expired; after any other end it is still replayed.",
  },
  {
    id: "IDEMPOTENCY-DISABLED",
    says: "An intake may have keys ignored on create and setFields; submit still requires one.",
  },
  {
    id: "IDEMPOTENCY-STORE-DOWN",
    says: "While the store is down a call is a 503 and executes nothing; the retry executes once.",
  },
  {
    id: "IDEMPOTENCY-CRASH",
    says: "Killing a process at any point neither executes a call twice nor loses one that was acknowledged.",
  },
  {
    id: "IDEMPOTENCY-NO-LOCK-LEFT",
    says: "A killed process leaves no lock: the retry right after the restart is answered.",
  },
] as const satisfies readonly ContractPromise[];
