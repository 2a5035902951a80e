import type { ContractPromise } from "./promise.ts";

/** What a reader of the history can rely on. */
export const EVENTS_PROMISES = [
  { id: "EVENTS-DEFAULT-STREAM", says: "By default, a history shows only the submission stream." },
  { id: "EVENTS-STREAM", says: "`stream` selects submission, token or idempotency; `all` shows all three." },
  { id: "EVENTS-TYPES", says: "`types` is a comma-separated list, and includes types of other streams." },
  {
    id: "EVENTS-SHAPE",
    says: "An event has id, seq, stream, type, submission, time, actor, state, version and hashes.",
  },
  {
    id: "EVENTS-WITH-CHANGE",
    says: "A change that was acknowledged has its event; one that was refused or failed has none.",
  },
  {
    id: "EVENTS-APPEND-ONLY",
    says: "No call changes or removes an event; reading it again returns the same.",
  },
  { id: "EVENTS-SEQ", says: "`seq` counts from 1 without a gap, separately for every submission and stream." },
  {
    id: "EVENTS-CHAIN",
    says: "`prevHash` is the hash of the previous event in its stream; the first one is 64 zeros.",
  },
  { id: "EVENTS-HASH", says: "`hash` can be recomputed by anybody: lower-case SHA-256 of the canonical envelope." },
  { id: "EVENTS-DIGESTS", says: "Actor and payload enter the hash as digests of salt and canonical JSON." },
  { id: "EVENTS-PROOF", says: "Salts and digests are included only with `proof=true`." },
  {
    id: "EVENTS-CALLERS",
    says: "Only admins see the addresses of callers; for everybody else the history verifies without them.",
  },
  { id: "EVENTS-ERASABLE", says: "With a person's value and salt erased, the chain still verifies." },
  { id: "EVENTS-PAGING", says: "`afterEventId` and `limit` page through a whole history, each event once, in order." },
  { id: "EVENTS-LIMIT-DEFAULT", says: "A page has 100 events unless the reader asks for another number." },
  {
    id: "EVENTS-AFTER-UNKNOWN",
    says: "Continuing after an event of another submission is a 400, in every format.",
  },
  { id: "EVENTS-ACCEPT", says: "Accept selects the format; the default is JSON." },
  { id: "EVENTS-JSONL", says: "With application/x-ndjson the same events are sent as one JSON object per line." },
  { id: "EVENTS-SSE-START", says: "A live stream begins with the first event, each frame with its id, type and data." },
  { id: "EVENTS-SSE-RESUME", says: "With Last-Event-ID or afterEventId a live stream continues after that event." },
  { id: "EVENTS-SSE-LIVE", says: "An open stream delivers later events in order and without a gap." },
  {
    id: "EVENTS-SSE-REVOKED",
    says: "An open stream ends when the session, key or token that opened it is revoked: nothing written later reaches it.",
  },
  { id: "EVENTS-FEED", says: "GET /events shows the events of all submissions in the order of their commits." },
  {
    id: "EVENTS-FEED-FILTERS",
    says: "GET /events filters by submission, actor kind and time, and its pages stay complete.",
  },
  {
    id: "EVENTS-FEED-NO-SKIP",
    says: "A reader who follows the feed while others write misses nothing and sees nothing twice.",
  },
  { id: "EVENTS-ONLY-HASHES", says: "Events contain only hashes of tokens and idempotency keys." },
  { id: "EVENTS-MASKED", says: "Events never contain the value of a sensitive field." },
  { id: "EVENTS-HANDOFF-RESUMED", says: "handoff.resumed is written when an agent acts again after a human." },
  {
    id: "EVENTS-HANDED-OFF",
    says: "token.handed_off is written when a human acts or reads after an agent, and the reverse.",
  },
  {
    id: "EVENTS-TOKEN-STREAM",
    says: "The token stream records every rotation, refused stale tokens and the token's end.",
  },
  {
    id: "EVENTS-READ-AUDIT",
    says: "Reads and failed uses of a token are recorded in the token stream, possibly with a delay.",
  },
  { id: "EVENTS-PAYLOADS", says: "The payload of every event holds what the contract declares for its type." },
  {
    id: "EVENTS-AUDIT-KEPT",
    says: "An audit note that can't be written is retried and counted, never dropped silently.",
  },
  {
    id: "EVENTS-IDEMPOTENCY-STREAM",
    says: "The idempotency stream records which keys were stored, replayed and refused.",
  },
  {
    id: "EVENTS-TTL-WARNING",
    says: "submission.ttl_warning is in the submission stream, once, after 80 % of the time to live.",
  },
  { id: "EVENTS-KEPT", says: "Events are kept for at least 90 days, even those of submissions that ended long ago." },
] as const satisfies readonly ContractPromise[];
