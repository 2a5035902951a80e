import type { Actor, Role } from "@formbridge/contract";

/** A caller whose credential was found good. */
export interface Principal {
  /** The id of its API key; for whoever another authority vouches for, an id that is always the same for the same one. */
  keyId: string;
  tenant: string;
  roles: readonly Role[];
  actor: Actor;
  intakes?: readonly string[];
  actsFor?: readonly string[];
}

/** Knows callers by credentials that another authority has issued. */
export interface Authenticator {
  /** Is this a credential of its kind? By form alone; whatever it does not recognize is looked up as an API key. */
  recognizes(credential: string): boolean;
  /**
   * Who presents the credential; absent when it is not good, for whatever reason. Throws `AuthenticatorDown` when that
   * can't be told now.
   */
  identify(credential: string): Promise<Principal | undefined>;
}

/** What is needed to judge a credential can't be had at the moment. */
export class AuthenticatorDown extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "AuthenticatorDown";
    this.retryAfterMs = retryAfterMs;
  }
}
