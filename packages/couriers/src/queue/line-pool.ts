import { Refusal } from "../failure.ts";
import { unlessAborted } from "../in-time.ts";
import type { Line } from "./line.ts";

interface Shared {
  line: Promise<Line>;
  /** Ends the opening when nobody waits for it. */
  opening: AbortController;
  users: number;
  /** Nobody new may use it: it broke, or did not answer. */
  retired: boolean;
  idle?: NodeJS.Timeout;
}

export interface LinePool {
  /** Lends the line to this URL: an open one, or a new one. */
  use<Result>(url: string, signal: AbortSignal, work: (line: Line) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface LinePoolOptions {
  /** Whoever asks first makes the others wait for it too, so it has a time-out of its own. */
  open(url: string, signal: AbortSignal): Promise<Line>;
  timeoutMs: number;
  /** How long a line stays open for the next message. */
  idleMs: number;
}

/** One connection for each URL: opened with the first message, opened anew after it broke, closed when nobody used it for a while. */
export function createLinePool({ open, timeoutMs, idleMs }: LinePoolOptions): LinePool {
  const current = new Map<string, Shared>();
  const closing = new Set<Promise<void>>();

  function start(url: string): Shared {
    const opening = new AbortController();
    const line = open(url, AbortSignal.any([opening.signal, AbortSignal.timeout(timeoutMs)]));
    const shared: Shared = { line, opening, users: 0, retired: false };
    current.set(url, shared);
    const retireIt = () => retire(url, shared);
    shared.line.then(({ ended }) => ended.then(retireIt, retireIt), retireIt);
    return shared;
  }

  function retire(url: string, shared: Shared): void {
    if (shared.retired) return;
    shared.retired = true;
    if (current.get(url) === shared) current.delete(url);
    if (shared.users === 0) hangUp(shared);
  }

  function hangUp(shared: Shared): void {
    clearTimeout(shared.idle);
    shared.opening.abort();
    // A line that never opened, or is over already, has nothing to close.
    const closed = shared.line.then((line) => line.close()).catch(() => {});
    closing.add(closed);
    closed.finally(() => closing.delete(closed));
  }

  function giveBack(url: string, shared: Shared): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (shared.retired) hangUp(shared);
    else shared.idle = setTimeout(() => retire(url, shared), idleMs).unref();
  }

  return {
    async use(url, signal, work) {
      const shared = current.get(url) ?? start(url);
      clearTimeout(shared.idle);
      shared.users += 1;
      try {
        const working = shared.line.then((line) => {
          // Who gave up while the line was opened must not be sent after all.
          signal.throwIfAborted();
          return work(line);
        });
        return await unlessAborted(working, signal);
      } catch (error) {
        if (!(error instanceof Refusal)) retire(url, shared);
        throw error;
      } finally {
        giveBack(url, shared);
      }
    },
    async close() {
      for (const [url, shared] of [...current]) retire(url, shared);
      await Promise.all(closing);
    },
  };
}
