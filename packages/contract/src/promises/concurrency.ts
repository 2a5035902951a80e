import type { ContractPromise } from "./promise.ts";

/** §5: concurrency over HTTP. */
export const CONCURRENCY_PROMISES = [
  {
    id: "CONCURRENCY-ONE-WINS",
    says: "Of many writes on one version exactly one succeeds; the others change nothing.",
  },
  {
    id: "CONCURRENCY-NOTHING-LOST",
    says: "Commits that leave the version alone are neither lost nor undone by concurrent writes.",
  },
  {
    id: "CONCURRENCY-HEADERS",
    says: "Responses carry ETag, X-Resume-Token, both version headers, Last-Modified and no-store.",
  },
  {
    id: "CONCURRENCY-IF-MATCH",
    says: "If-Match takes a bare token, a quoted one, a quoted version, and version with token.",
  },
  { id: "CONCURRENCY-IF-MATCH-STAR", says: "If-Match: * counts as absent." },
  { id: "CONCURRENCY-IF-MATCH-BOTH", says: "The right token with another version in If-Match is a 409." },
  { id: "CONCURRENCY-AGREE", says: "Tokens in path, header and body must be the same, or it is a 400." },
  {
    id: "CONCURRENCY-VERSION",
    says: "X-Intake-Version or a body's version that is not the current one is a 409 token_conflict.",
  },
  { id: "CONCURRENCY-REQUIRED", says: "A write that names no token is a 428, also for an id that does not exist." },
  {
    id: "CONCURRENCY-BY-KEY",
    says: "A key reviews and cancels by id; one that may hold the token writes by naming the version.",
  },
  { id: "CONCURRENCY-CANCEL-TOKEN", says: "A token cancels its submission, by id or by its own path." },
  {
    id: "CONCURRENCY-NOT-MODIFIED",
    says: "If-None-Match with the current token is a 304 while nothing was committed since.",
  },
  {
    id: "CONCURRENCY-MODIFIED",
    says: "After any commit in the submission stream, If-None-Match gets the full response.",
  },
  { id: "CONCURRENCY-SAME-PATHS", says: "/submissions/{token} and /resume/{token} are equivalent." },
  { id: "CONCURRENCY-409", says: "A mismatch is a 409, never a 412." },
  {
    id: "CONCURRENCY-ORDER-PARSE",
    says: "A request that can't be parsed is refused before the caller is authenticated.",
  },
  { id: "CONCURRENCY-ORDER-KEY", says: "A bad API key is a 401 before any token is looked up." },
  { id: "CONCURRENCY-ORDER-RESOLVE", says: "An unknown or revoked token is refused before tokens are compared." },
  {
    id: "CONCURRENCY-ORDER-AGREE",
    says: "Conflicting or absent tokens are refused before a recorded response is looked for.",
  },
  {
    id: "CONCURRENCY-ORDER-REPLAY",
    says: "A retry gets its recorded response even if its token is stale or the submission has ended.",
  },
  { id: "CONCURRENCY-ORDER-ENDED", says: "An ended submission is a 410 before a stale token is a 409." },
  { id: "CONCURRENCY-ORDER-STALE", says: "A stale token is reported before a locked state." },
  { id: "CONCURRENCY-ORDER-LOCKED", says: "A locked state is reported before the content is checked." },
] as const satisfies readonly ContractPromise[];
