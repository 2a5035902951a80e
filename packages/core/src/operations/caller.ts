import type { CallFacts } from "../ports/instrumentation.ts";

export type { Principal } from "../ports/authenticator.ts";

/** The caller, as known to the transport. */
export interface Caller {
  /** The bearer credential, if any: an API key, or something the authenticator recognizes. */
  apiKey?: string;
  /** The secret of a hand-off session, if any. */
  session?: string;
  /** The response goes to a model, whatever the API key, so sensitive values are masked. */
  forModel?: true;
  /** The client's address, for rate limits and the history. */
  address: string;
  /** The client's country (ISO 3166-1 alpha-2), if a trusted proxy sends it. */
  country?: string;
  /** The client's user agent, if the transport has one. */
  userAgent?: string;
  /** The span that the call comes from, as the value of a W3C `traceparent` header. Not trusted to be one. */
  traceparent?: string;
  /** Filled in during the call, for the transport's log. */
  facts?: CallFacts;
}

/** What a call names: id, tokens and versions of a submission, from path, headers and body. All must agree. */
export interface Target {
  submissionId?: string;
  /** Limits the call to one intake: submissions of others aren't found. */
  intakeId?: string;
  tokens: readonly string[];
  versions: readonly number[];
}
