import type { ContractPromise } from "./promise.ts";

/** §1: names and shapes. */
export const NAMES_PROMISES = [
  {
    id: "NAMES-IDS",
    says: "Ids start with the prefix of what they name and sort in the order in which they were created.",
  },
  {
    id: "NAMES-SECRETS",
    says: "Tokens and API keys are a prefix and 32 random bytes; nothing in them reveals their age.",
  },
  {
    id: "NAMES-INTAKE-ID",
    says: "An intake id is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit; others are refused.",
  },
  {
    id: "NAMES-INTAKE-UNIQUE",
    says: "An intake id belongs to one tenant of a deployment; another tenant can't take it.",
  },
  { id: "NAMES-TOOL-COLLISION", says: "An intake whose tool names would be those of another intake is refused." },
  { id: "NAMES-ACTOR-KIND", says: "An actor given with `type` is accepted, and always returned with `kind`." },
  { id: "NAMES-ACTOR-SYSTEM", says: "No caller can act as `system`." },
  { id: "NAMES-ACTOR-OF-KEY", says: "A call with a key is recorded under the key's own actor; naming another is 403." },
  { id: "NAMES-ACTS-FOR", says: "A key that may act for named actors records the named one." },
  { id: "NAMES-DECLARED", says: "An actor that only named itself, by token or public create, is marked `declared`." },
  { id: "NAMES-DECLARED-REVIEW", says: "A declared actor can't review." },
  { id: "NAMES-DECLARED-HUMAN", says: "A caller who only says it is human can't set a human-only field." },
  { id: "NAMES-OK", says: "Every JSON response has `ok`: true on success, false with an error." },
  {
    id: "NAMES-MARK",
    says: "Responses about a submission include its id, state and version, and the token for callers who may hold it.",
  },
  { id: "NAMES-REQUEST-ID", says: "Every response has an X-Request-Id: the caller's, or a generated one." },
  { id: "NAMES-TIMES", says: "Times are ISO 8601 in UTC with milliseconds, from the store's clock." },
] as const satisfies readonly ContractPromise[];
