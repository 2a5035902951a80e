import { type Authenticator, AuthenticatorDown, type Instant, type Principal } from "@formbridge/core";
import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { ALGORITHMS, type Issuer } from "./issuer.ts";
import { createKeySource, type KeyTimes } from "./key-source.ts";
import { loadKeys } from "./load-keys.ts";
import { readPrincipal } from "./principal.ts";

/** What the operator may want to know and the caller is not told. Never holds anything of a token but its issuer. */
export interface AuthNotes {
  refused(note: { issuer: string; reason: string }): void;
  keysUnavailable(note: { issuer: string; error: unknown }): void;
}

export interface JwtOptions {
  now(): Instant;
  clockSkewMs: number;
  /** The operator's own tenant, whose admins make keys of every tenant: no claim leads there unless allowed by name. */
  reservedTenant: string;
  keys: KeyTimes & { timeoutMs: number };
  notes: AuthNotes;
}

interface Trusted {
  issuer: Issuer;
  keyFor: JWTVerifyGetKey;
}

/** Header, payload and signature, where the header is an object. */
const FORM = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;
/** More than any honest token, and less than what is costly to take apart. */
const MAX_LENGTH = 16_384;

/** Takes JWTs of the given issuers. Keys come from where the settings say, never from where a token points to. */
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

/** Whom the token says it is from. Nothing is believed yet: it only chooses the keys to check it with. */
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

/** The library's code and the claim it is about: its words, and the error itself, hold what the token says. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    return `${error.code} ${error.claim}`;
  }
  return error instanceof errors.JOSEError ? error.code : "the key can't be used";
}
