import { Refusal } from "../failure.ts";
import { unlessAborted } from "../in-time.ts";
import type { QueueConnection } from "./connection.ts";

interface Shared {
  connection: Promise<QueueConnection>;
  /** Cancels opening when nobody waits for it. */
  opening: AbortController;
  users: number;
  /** Not for new messages: it broke or timed out. */
  retired: boolean;
  idle?: NodeJS.Timeout;
}

export interface ConnectionPool {
  /** Runs `work` on the connection to this URL; opens one if there is none. */
  use<Result>(
    url: string,
    signal: AbortSignal,
    work: (connection: QueueConnection) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

export interface ConnectionPoolOptions {
  /** Others wait for it too, so its timeout is not that of the first caller. */
  open(url: string, signal: AbortSignal): Promise<QueueConnection>;
  timeoutMs: number;
  /** How long an idle connection stays open. */
  idleMs: number;
}

/** One connection per URL: opened for the first message, reopened after a failure, closed when idle. */
export function createConnectionPool({ open, timeoutMs, idleMs }: ConnectionPoolOptions): ConnectionPool {
  const current = new Map<string, Shared>();
  const closing = new Set<Promise<void>>();

  function start(url: string): Shared {
    const opening = new AbortController();
    const connection = open(url, AbortSignal.any([opening.signal, AbortSignal.timeout(timeoutMs)]));
    const shared: Shared = { connection, opening, users: 0, retired: false };
    current.set(url, shared);
    const retireIt = () => retire(url, shared);
    shared.connection.then(({ ended }) => ended.then(retireIt, retireIt), retireIt);
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
    // It may never have opened, or have ended already.
    const closed = shared.connection.then((connection) => connection.close()).catch(() => {});
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
        const working = shared.connection.then((connection) => {
          // Don't send for a caller that gave up while the connection was opening.
          signal.throwIfAborted();
          return work(connection);
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
