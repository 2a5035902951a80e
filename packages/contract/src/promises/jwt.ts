import type { ContractPromise } from "./promise.ts";

/** What callers with an access token, and those who trust its issuer, can rely on. */
export const JWT_PROMISES = [
  { id: "JWT-GOOD", says: "A JWT from a configured issuer opens what an API key with its roles would, and no more." },
  { id: "JWT-OFF", says: "Without configured issuers a JWT is a wrong key: 401." },
  { id: "JWT-REFUSED", says: "A token that is not good gets the very answer of a wrong key, whatever is wrong." },
  { id: "JWT-CLAIMS", says: "Issuer and audience must be the configured ones; sub and exp must be there." },
  { id: "JWT-TIME", says: "A token counts from nbf until exp, give or take the clock skew that is set." },
  { id: "JWT-ALGORITHMS", says: "Only signatures that the issuer alone can make count: never none, never a secret." },
  { id: "JWT-HEADERS", says: "A key that a token brings or points to is neither used nor fetched." },
  { id: "JWT-SIZE", says: "A huge token is refused before it is taken apart." },
  { id: "JWT-ROLES", says: "A claim gives a role only when its issuer is allowed to give that role." },
  { id: "JWT-INTAKES", says: "A token that is limited to intakes finds nothing of any other." },
  { id: "JWT-TENANTS", says: "A token of one tenant gets a 404 for what another has, as if it were not there." },
  { id: "JWT-ACTOR", says: "The recorded actor is the token's, apart from those of keys and of other issuers." },
  {
    id: "JWT-PRINCIPAL",
    says: "One subject of one issuer is one principal, whichever token it shows: what it created, its replays, its limits.",
  },
  { id: "JWT-KEYS-CACHED", says: "An issuer is asked for its keys once, not with every token." },
  { id: "JWT-KEYS-UNKNOWN", says: "A token with an unknown key has the keys fetched, at most once in a cool-down." },
  { id: "JWT-KEYS-ROTATED", says: "After a rotation new tokens are taken and those of a withdrawn key are not." },
  {
    id: "JWT-KEYS-OUTAGE",
    says: "While an issuer is down, tokens are checked with the keys that were fetched before.",
  },
  { id: "JWT-KEYS-NONE", says: "An issuer out of reach whose keys were never seen is a 503 with Retry-After." },
  { id: "JWT-KEYS-PLACE", says: "Keys come from the configured place alone: no redirect, in time, of bounded size." },
  { id: "JWT-KEYS-FILE", says: "Keys can come from a local file." },
  { id: "JWT-LOGS", says: "The log tells why a token was refused, and holds nothing of any token." },
  { id: "JWT-SETTINGS", says: "A bad issuer setting stops the start and names the variable and the place." },
  { id: "JWT-DOCTOR", says: "doctor asks every issuer for its keys and shows nothing secret." },
] as const satisfies readonly ContractPromise[];
