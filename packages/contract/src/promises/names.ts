import type { ContractPromise } from "./promise.ts";

/** §1: names and shapes. */
export const NAMES_PROMISES = [
  { id: "NAMES-IDS", says: "Ids carry the prefix of what they name and sort in the order in which they were made." },
  {
    id: "NAMES-SECRETS",
    says: "Tokens and API keys are a prefix and 32 random bytes; nothing in them tells their age.",
  },
  {
    id: "NAMES-INTAKE-ID",
    says: "An intake id is 1 to 64 of a-z, 0-9, _ and -, led by a letter or digit; others are refused.",
  },
  {
    id: "NAMES-INTAKE-UNIQUE",
    says: "An intake id belongs to one tenant of a deployment; another tenant can't take it.",
  },
  { id: "NAMES-TOOL-COLLISION", says: "An intake whose tool names would be those of another intake is refused." },
  { id: "NAMES-ACTOR-KIND", says: "An actor given with `type` is understood, and always shown with `kind`." },
  { id: "NAMES-ACTOR-SYSTEM", says: "Nobody can call as `system`." },
  { id: "NAMES-ACTOR-OF-KEY", says: "A call with a key is recorded under the key's own actor; naming another is 403." },
  { id: "NAMES-ACTS-FOR", says: "A key that may act for named actors records the named one." },
  { id: "NAMES-DECLARED", says: "An actor that only named itself, by token or public create, is marked `declared`." },
  { id: "NAMES-DECLARED-REVIEW", says: "A declared actor can't review." },
  { id: "NAMES-DECLARED-HUMAN", says: "A caller who only says it is human can't set a human-only field." },
  { id: "NAMES-OK", says: "Every JSON answer says `ok`: true on success, false with an error." },
  {
    id: "NAMES-MARK",
    says: "Answers about a submission name its id, state and version, and the token for those who may hold it.",
  },
  { id: "NAMES-REQUEST-ID", says: "Every answer has an X-Request-Id: the caller's, or one that was made." },
  { id: "NAMES-TIMES", says: "Times are ISO 8601 in UTC with milliseconds, by the clock of the store." },
] as const satisfies readonly ContractPromise[];
