import type { ActorInput } from "@formbridge/contract";

/** Called on every try, for metrics and traces. Never given a token, key or body. */
export interface Telemetry {
  onRequest?(about: { method: string; route: string; attempt: number }): void;
  onResponse?(about: { method: string; route: string; attempt: number; status: number; ms: number }): void;
  onRetry?(about: { method: string; route: string; attempt: number; delayMs: number; reason: string }): void;
  /** A 409 was merged, a lapsed token reissued, or a call made by id because the token could not be looked up. */
  onRecovery?(about: { kind: "merged" | "reissued" | "by_id"; submissionId: string }): void;
}

export interface RetryOptions {
  /** How often a call is tried in all. */
  tries?: number;
  /** How long one try may take. */
  timeoutMs?: number;
  /** The first delay is at most this long; each further one may be twice as long. */
  baseDelayMs?: number;
  maxDelayMs?: number;
}

export interface ClientOptions {
  /** Where the server is, for example `https://intake.example.com`. */
  url: string;
  /** An API key or access token. Leave it out in browsers. */
  apiKey?: string;
  /** The secret of a hand-off session. A page with a session cookie needs none. */
  session?: string;
  /** Recorded as the author of writes. Not needed with an API key or session, which identify the actor. */
  actor?: ActorInput;
  retry?: RetryOptions;
  telemetry?: Telemetry;
  fetch?: typeof fetch;
  /** Replaced by tests, so that nobody waits. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  random?: () => number;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface KeyedOptions extends CallOptions {
  /** The same key for every retry of the same call, also after a restart of your program. One is made when absent. */
  idempotencyKey?: string;
}

export const RETRY_DEFAULTS = { tries: 3, timeoutMs: 30_000, baseDelayMs: 500, maxDelayMs: 10_000 } as const;

/** A key for one logical call. Long enough to be accepted without authentication. */
export const newIdempotencyKey = (): string => `idem_${crypto.randomUUID()}`;

export function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
