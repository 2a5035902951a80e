import { setTimeout as pause } from "node:timers/promises";

/** The calls in flight. */
export interface InFlight {
  track<Result>(call: Promise<Result>): Promise<Result>;
  /** Resolves when all have been answered and the responses had a moment to be sent, after `ms` at the latest. */
  ended(ms: number): Promise<void>;
}

const MOMENT_MS = 20;

export function createInFlight(): InFlight {
  const running = new Set<Promise<unknown>>();
  return {
    track(call) {
      running.add(call);
      const forget = (): void => void running.delete(call);
      call.then(forget, forget);
      return call;
    },
    async ended(ms) {
      if (running.size === 0) return;
      const over = new AbortController();
      await Promise.race([Promise.allSettled(running), pause(ms, undefined, { signal: over.signal })]);
      over.abort();
      await pause(MOMENT_MS);
    },
  };
}
