import type { Actor, Role } from "@formbridge/contract";

/** An authenticated caller. */
export interface Principal {
  /** The id of the API key; for a caller of another issuer, a stable id derived from its identity. */
  keyId: string;
  tenant: string;
  roles: readonly Role[];
  actor: Actor;
  intakes?: readonly string[];
  actsFor?: readonly string[];
}

/** Authenticates credentials of another issuer. */
export interface Authenticator {
  /** Whether the credential has this authenticator's format. Anything else is looked up as an API key. */
  recognizes(credential: string): boolean;
  /**
   * The caller, or undefined if the credential is invalid for any reason. Throws `AuthenticatorDown` when it can't be checked
   * now.
   */
  identify(credential: string): Promise<Principal | undefined>;
}

/** The credential can't be checked now, for example because the issuer's keys can't be fetched. */
export class AuthenticatorDown extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "AuthenticatorDown";
    this.retryAfterMs = retryAfterMs;
  }
}
