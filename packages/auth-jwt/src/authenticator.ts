import { type Authenticator, AuthenticatorDown, type Instant, type Principal } from "@formbridge/core";
import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { ALGORITHMS, type Issuer } from "./issuer.ts";
import { createKeySource, type KeyTimes } from "./key-source.ts";
import { loadKeys } from "./load-keys.ts";
import { readPrincipal } from "./principal.ts";

/** What the operator may want to know but the caller doesn't get. Contains nothing of a token except its issuer. */
export interface AuthNotes {
  refused(note: { issuer: string; reason: string }): void;
  keysUnavailable(note: { issuer: string; error: unknown }): void;
}

export interface JwtOptions {
  now(): Instant;
  clockSkewMs: number;
  /**
   * The operator's own tenant, whose admins can create API keys for every tenant: no claim may name it unless
   * explicitly allowed.
   */
  reservedTenant: string;
  keys: KeyTimes & { timeoutMs: number };
  notes: AuthNotes;
}

interface Trusted {
  issuer: Issuer;
  keyFor: JWTVerifyGetKey;
}

/** The shape of a JWT: header, payload and signature, where the header is a JSON object. */
const FORM = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;
/** Longer than any legitimate token, and still cheap to parse. */
const MAX_LENGTH = 16_384;

/**
 * Accepts JWTs of the configured issuers. Keys come from the configured location, never from one that a token names.
 */
export function createJwtAuthenticator(issuers: readonly Issuer[], options: JwtOptions): Authenticator {
  const trusted = new Map(issuers.map((issuer) => [issuer.issuer, { issuer, keyFor: keySourceOf(issuer, options) }]));
  return {
    recognizes: (credential) => FORM.test(credential),
    async identify(token) {
      const known = token.length > MAX_LENGTH ? undefined : trusted.get(claimedIssuer(token) ?? "");
      if (known !== undefined) return await identifyBy(known, token, options);
      options.notes.refused({ issuer: "unknown", reason: "no such issuer" });
      return undefined;
    },
  };
}

const keySourceOf = (issuer: Issuer, { now, keys, notes }: JwtOptions): JWTVerifyGetKey =>
  createKeySource({
    ...keys,
    now,
    load: () => loadKeys(issuer, keys),
    onTrouble: (error) => notes.keysUnavailable({ issuer: issuer.name, error }),
  });

/** The issuer that the token claims. Not trusted yet: it only selects the keys to verify it with. */
function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

async function identifyBy(
  { issuer, keyFor }: Trusted,
  token: string,
  options: JwtOptions,
): Promise<Principal | undefined> {
  const verified = await verify({ issuer, keyFor }, token, options);
  const reading = "payload" in verified ? readPrincipal(verified.payload, issuer, options) : verified;
  if ("principal" in reading) return reading.principal;
  options.notes.refused({ issuer: issuer.name, reason: reading.refused });
  return undefined;
}

async function verify(
  { issuer, keyFor }: Trusted,
  token: string,
  { now, clockSkewMs }: JwtOptions,
): Promise<{ payload: JWTPayload } | { refused: string }> {
  try {
    return await jwtVerify(token, keyFor, {
      issuer: issuer.issuer,
      audience: issuer.audience,
      algorithms: [...(issuer.algorithms ?? ALGORITHMS)],
      requiredClaims: ["exp"],
      currentDate: new Date(now()),
      clockTolerance: clockSkewMs / 1000,
    });
  } catch (error) {
    if (error instanceof AuthenticatorDown) throw error;
    return { refused: reasonOf(error) };
  }
}

/** The library's error code and the claim concerned. Its message, and the error itself, contain parts of the token. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    return `${error.code} ${error.claim}`;
  }
  return error instanceof errors.JOSEError ? error.code : "the key can't be used";
}
