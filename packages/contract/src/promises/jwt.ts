import type { ContractPromise } from "./promise.ts";

/** What callers with an access token, and operators who trust its issuer, can rely on. */
export const JWT_PROMISES = [
  {
    id: "JWT-GOOD",
    says: "A JWT from a configured issuer gives the same rights as an API key with its roles, and no more.",
  },
  { id: "JWT-OFF", says: "Without configured issuers a JWT is a wrong key: 401." },
  { id: "JWT-REFUSED", says: "An invalid token gets the same response as a wrong API key, whatever is wrong with it." },
  { id: "JWT-CLAIMS", says: "Issuer and audience must be the configured ones; sub and exp are required." },
  { id: "JWT-TIME", says: "A token is valid from nbf until exp, within the configured clock skew." },
  {
    id: "JWT-ALGORITHMS",
    says: "Only signatures that nobody but the issuer can make are accepted: never none, never a shared secret.",
  },
  { id: "JWT-HEADERS", says: "A key that a token contains or points to is neither used nor fetched." },
  { id: "JWT-SIZE", says: "A huge token is refused before it is parsed." },
  { id: "JWT-ROLES", says: "A claim gives a role only when its issuer is allowed to give that role." },
  { id: "JWT-INTAKES", says: "A token limited to some intakes sees nothing of any other." },
  { id: "JWT-TENANTS", says: "A token of one tenant gets a 404 for what belongs to another, as if it did not exist." },
  {
    id: "JWT-ACTOR",
    says: "The recorded actor is the token's, distinct from the actors of keys and of other issuers.",
  },
  {
    id: "JWT-PRINCIPAL",
    says: "One subject of one issuer is one principal, whichever token it uses: its submissions, replays and limits.",
  },
  { id: "JWT-KEYS-CACHED", says: "An issuer is asked for its keys once, not with every token." },
  {
    id: "JWT-KEYS-UNKNOWN",
    says: "A token with an unknown key causes the keys to be fetched, at most once per cool-down.",
  },
  {
    id: "JWT-KEYS-ROTATED",
    says: "After a rotation new tokens are accepted and tokens signed with a withdrawn key are not.",
  },
  {
    id: "JWT-KEYS-OUTAGE",
    says: "While an issuer is down, tokens are checked with the keys that were fetched before.",
  },
  { id: "JWT-KEYS-NONE", says: "An unreachable issuer whose keys were never fetched is a 503 with Retry-After." },
  {
    id: "JWT-KEYS-PLACE",
    says: "Keys are fetched only from the configured location: no redirect, within a timeout, of bounded size.",
  },
  { id: "JWT-KEYS-FILE", says: "Keys can come from a local file." },
  { id: "JWT-LOGS", says: "The log says why a token was refused, and contains nothing of any token." },
  { id: "JWT-SETTINGS", says: "An invalid issuer setting stops the start and names the variable and the location." },
  { id: "JWT-DOCTOR", says: "doctor asks every issuer for its keys and shows nothing secret." },
] as const satisfies readonly ContractPromise[];
