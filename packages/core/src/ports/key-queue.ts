import { randomBytes } from "node:crypto";
import type { Idempotency, ScopedKey } from "./idempotency.ts";

/** Random, so that events can distinguish instances without revealing host names. */
const THIS_INSTANCE = `srv_${randomBytes(6).toString("hex")}`;

/** The holder of a key that another process has locked. */
export const ANOTHER_INSTANCE = "another_instance";

type Leave = () => void;
interface Waiter {
  timer: NodeJS.Timeout;
  admit(leave: Leave | undefined): void;
}

/** `Idempotency.enter` for stores that one process owns: its queues and locks end with the process. */
export function createKeyQueue(): Idempotency["enter"] {
  const queues = new Map<string, Waiter[]>();

  function exit(name: string, queue: Waiter[]): Leave {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const next = queue.shift();
      if (next === undefined) {
        queues.delete(name);
        return;
      }
      clearTimeout(next.timer);
      next.admit(exit(name, queue));
    };
  }

  function wait(queue: Waiter[], timeoutMs: number): Promise<Leave | undefined> {
    return new Promise((admit) => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1);
        admit(undefined);
      }, timeoutMs);
      timer.unref();
      const waiter: Waiter = { timer, admit };
      queue.push(waiter);
    });
  }

  return async (key, { timeoutMs, maxWaiters, onQueued, onFull }) => {
    const name = nameOf(key);
    const queue = queues.get(name);
    if (queue === undefined) {
      const fresh: Waiter[] = [];
      queues.set(name, fresh);
      return exit(name, fresh);
    }
    onQueued?.({ depth: queue.length, holder: THIS_INSTANCE });
    if (queue.length < maxWaiters) return wait(queue, timeoutMs);
    onFull?.();
    return undefined;
  };
}

const nameOf = (key: ScopedKey): string => JSON.stringify([key.tenant, key.intakeId, key.operation, key.hash]);
