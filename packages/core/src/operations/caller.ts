export type { Principal } from "../ports/authenticator.ts";

/** Who calls, as the transport knows it. */
export interface Caller {
  /** The bearer credential as sent, if any: an API key, or what the authenticator recognizes. */
  apiKey?: string;
  /** The secret of a hand-off session as sent, if any. */
  session?: string;
  /** Where the call comes from, for limits. */
  address: string;
}

/** What a call on a submission names: its id, tokens and versions, from path, headers and body. All must agree. */
export interface Target {
  submissionId?: string;
  /** The only intake that the call is about: a submission of any other one is not there. */
  intakeId?: string;
  tokens: readonly string[];
  versions: readonly number[];
}
