export { type AuthNotes, createJwtAuthenticator, type JwtOptions } from "./authenticator.ts";
export { checkIssuers } from "./check-issuers.ts";
export type { Issuer } from "./issuer.ts";
export { readKeySet } from "./key-set.ts";
export type { KeyTimes } from "./key-source.ts";
export { loadKeys, placeOfKeys } from "./load-keys.ts";
