import type { FormBridgeError } from "@formbridge/client";

const RETRY_MS = [1_000, 2_000, 5_000, 10_000];

/** Counts consecutive failures of writes and of reads, and sets the retry delay. */
export class Outages {
  readonly #failures = { write: 0, read: 0 };
  #last: FormBridgeError | undefined;

  /** Returns how long to wait before the next try. */
  record(kind: "write" | "read", error: FormBridgeError): number {
    const delay = RETRY_MS[Math.min(this.#failures[kind]++, RETRY_MS.length - 1)] ?? 0;
    this.#last = error;
    return Math.max(delay, error.detail?.retryAfterMs ?? 0);
  }

  end(kind: "write" | "read"): void {
    this.#failures[kind] = 0;
  }

  get isWriteFailing(): boolean {
    return this.#failures.write > 0;
  }

  /** Losing every race for a version isn't an outage: the next write may win. */
  get isOffline(): boolean {
    const { write, read } = this.#failures;
    return write + read > 0 && this.#last?.type !== "token_conflict";
  }
}
