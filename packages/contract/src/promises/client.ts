import type { ContractPromise } from "./promise.ts";

/** What the typed client does for a program. */
export const CLIENT_PROMISES = [
  { id: "CLIENT-TYPES", says: "Fields have the types that the intake's schema describes." },
  {
    id: "CLIENT-KEY-KEPT",
    says: "A call whose response was lost is repeated with its idempotency key, and is executed once.",
  },
  {
    id: "CLIENT-TRIES",
    says: "A call is tried three times, 30 s each, with jittered delays that respect the server's.",
  },
  {
    id: "CLIENT-FINAL",
    says: "A call that can't succeed, or that may have been executed without a key, is not repeated.",
  },
  { id: "CLIENT-ABORT", says: "An aborted call ends at once." },
  { id: "CLIENT-TURNS", says: "One submission's writes are sent one at a time." },
  { id: "CLIENT-MERGE", says: "Writes of two programs on different fields are merged." },
  { id: "CLIENT-MERGE-CONFLICT", says: "Writes on the same field are returned to the caller with both values." },
  { id: "CLIENT-MERGE-TRIES", says: "If a submission keeps changing, the client gives up after three merges." },
  { id: "CLIENT-SEEN", says: "A write is never made on a version whose fields its caller has not seen." },
  { id: "CLIENT-STALE", says: "Calls that conflict with nobody succeed even if somebody else has written in between." },
  { id: "CLIENT-REISSUE", says: "A lapsed token is reissued when the key allows it." },
  { id: "CLIENT-BY-ID", says: "When tokens can't be looked up, a caller with an API key uses the submission's id." },
  { id: "CLIENT-SESSION", says: "In a hand-off session the client never holds a token." },
  { id: "CLIENT-WATCH", says: "A watcher sees each event once and in order, until the submission ends." },
  { id: "CLIENT-WATCH-RESUMES", says: "A broken stream continues after the last event that was seen." },
  { id: "CLIENT-WATCH-POLLS", says: "Where streaming does not work, events are polled." },
  { id: "CLIENT-UPLOAD", says: "A file is announced, sent, checked and attached by one call." },
  { id: "CLIENT-UPLOAD-RESUMES", says: "A broken upload continues where it stopped, even after a reload." },
  { id: "CLIENT-UPLOAD-PAUSE", says: "An upload can be paused and resumed." },
  { id: "CLIENT-UPLOAD-ABANDON", says: "Abandoning an upload also removes it from the server." },
  { id: "CLIENT-RETRY-DELIVERY", says: "A failed delivery can be started again through the client." },
  { id: "CLIENT-TELEMETRY", says: "Telemetry hooks see every try and no secret." },
  { id: "CLIENT-LISTS", says: "Lists are read page by page behind an iterator." },
] as const satisfies readonly ContractPromise[];
