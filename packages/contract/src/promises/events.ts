import type { ContractPromise } from "./promise.ts";

/** What a reader of the history can rely on. */
export const EVENTS_PROMISES = [
  { id: "EVENTS-DEFAULT-STREAM", says: "Without asking for more, a history shows the submission stream alone." },
  { id: "EVENTS-STREAM", says: "`stream` chooses submission, token or idempotency; `all` shows every one of them." },
  { id: "EVENTS-TYPES", says: "`types` is a comma list, and brings types of other streams too." },
  {
    id: "EVENTS-SHAPE",
    says: "An event tells id, seq, stream, type, submission, time, actor, state, version and hashes.",
  },
  {
    id: "EVENTS-WITH-CHANGE",
    says: "A change that was answered has its event; one that was refused or failed has none.",
  },
  {
    id: "EVENTS-APPEND-ONLY",
    says: "No call changes or removes an event; what was read once reads the same for ever.",
  },
  { id: "EVENTS-SEQ", says: "`seq` counts from 1 without a gap, for every submission and stream on its own." },
  { id: "EVENTS-CHAIN", says: "`prevHash` is the hash before it in its stream; the first one is 64 zeros." },
  { id: "EVENTS-HASH", says: "`hash` can be recomputed by anybody: lower-case SHA-256 of the canonical envelope." },
  { id: "EVENTS-DIGESTS", says: "Actor and payload enter the hash as digests of salt and canonical JSON." },
  { id: "EVENTS-PROOF", says: "Salts and digests come with `proof=true` and only then." },
  {
    id: "EVENTS-CALLERS",
    says: "Only admins read the addresses of callers; for everybody else the history verifies without them.",
  },
  { id: "EVENTS-ERASABLE", says: "With a person's value and salt erased, the chain still verifies." },
  { id: "EVENTS-PAGING", says: "`afterEventId` and `limit` walk a history completely, each event once, in order." },
  { id: "EVENTS-LIMIT-DEFAULT", says: "A page has 100 events unless the reader asks for another number." },
  {
    id: "EVENTS-AFTER-UNKNOWN",
    says: "To go on after an event that is not of this submission is a 400, in every form.",
  },
  { id: "EVENTS-ACCEPT", says: "Accept chooses the form; without a preference it is JSON." },
  { id: "EVENTS-JSONL", says: "As application/x-ndjson the same events come one JSON object a line." },
  { id: "EVENTS-SSE-START", says: "A live stream begins with the first event, each frame with its id, type and data." },
  { id: "EVENTS-SSE-RESUME", says: "Last-Event-ID or afterEventId makes a live stream go on where the reader was." },
  { id: "EVENTS-SSE-LIVE", says: "An open stream delivers what is written later, in order and without a gap." },
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
  { id: "EVENTS-ONLY-HASHES", says: "Tokens and idempotency keys stand in events only as hashes." },
  { id: "EVENTS-MASKED", says: "The value of a sensitive field never stands in an event." },
  { id: "EVENTS-HANDOFF-RESUMED", says: "handoff.resumed is written when an agent acts again after a human." },
  { id: "EVENTS-HANDED-OFF", says: "token.handed_off is written when a human acts or reads after an agent, or back." },
  {
    id: "EVENTS-TOKEN-STREAM",
    says: "The token stream tells of every rotation, of refused stale tokens and of the token's end.",
  },
  { id: "EVENTS-READ-AUDIT", says: "Reads and failed uses of a token are in the token stream, if not at once." },
  { id: "EVENTS-PAYLOADS", says: "The payload of every event holds what the contract declares for its type." },
  {
    id: "EVENTS-AUDIT-KEPT",
    says: "An audit note that can't be written is retried and counted, never dropped silently.",
  },
  { id: "EVENTS-IDEMPOTENCY-STREAM", says: "The idempotency stream tells of keys recorded, replayed and refused." },
  {
    id: "EVENTS-TTL-WARNING",
    says: "submission.ttl_warning is in the submission stream, once, when 80 % of the time is over.",
  },
  { id: "EVENTS-KEPT", says: "Events are kept at least 90 days, also those of submissions long ended." },
] as const satisfies readonly ContractPromise[];
