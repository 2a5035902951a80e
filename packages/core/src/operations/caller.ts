import type { Actor, Role } from "@formbridge/contract";

/** Who calls, as the transport knows it. */
export interface Caller {
  /** The bearer key as sent, if any. */
  apiKey?: string;
  /** The secret of a hand-off session as sent, if any. */
  session?: string;
  /** Where the call comes from, for limits. */
  address: string;
}

/** A caller whose key was found good. */
export interface Principal {
  keyId: string;
  tenant: string;
  roles: readonly Role[];
  actor: Actor;
  intakes?: readonly string[];
  actsFor?: readonly string[];
}

/** What a call on a submission names: its id, tokens and versions, from path, headers and body. All must agree. */
export interface Target {
  submissionId?: string;
  tokens: readonly string[];
  versions: readonly number[];
}
