const MAX_FAILURES = 5;
const PROBE_EVERY_MS = 1_000;

/** A circuit breaker: after several failures in a row only one call per second goes through. */
export interface Breaker {
  /** Whether this call may go through. */
  admits(): boolean;
  succeeded(): void;
  /** Returns whether to reconnect: true after every so many failures in a row. */
  failed(cause?: unknown): boolean;
}

export interface BreakerNotes {
  state(state: "closed" | "open" | "half_open", cause?: unknown): void;
  rejected(): void;
}

const SILENT: BreakerNotes = { state: () => {}, rejected: () => {} };

export function createBreaker(now: () => number = () => performance.now(), notes: BreakerNotes = SILENT): Breaker {
  let failures = 0;
  let nextProbe = 0;
  return {
    admits() {
      if (failures < MAX_FAILURES) return true;
      if (now() < nextProbe) {
        notes.rejected();
        return false;
      }
      nextProbe = now() + PROBE_EVERY_MS;
      notes.state("half_open");
      return true;
    },
    succeeded() {
      if (failures >= MAX_FAILURES) notes.state("closed");
      failures = 0;
    },
    failed(cause) {
      failures += 1;
      if (failures === MAX_FAILURES) {
        nextProbe = now() + PROBE_EVERY_MS;
        notes.state("open", cause);
      }
      return failures % MAX_FAILURES === 0;
    },
  };
}
