import type { Idempotency, ScopedKey } from "./idempotency.ts";

type Leave = () => void;
interface Waiter {
  timer: NodeJS.Timeout;
  admit(leave: Leave | undefined): void;
}

/** `Idempotency.enter` for stores that one process has to itself: the line dies with the process, and so do its locks. */
export function createKeyLine(): Idempotency["enter"] {
  const lines = new Map<string, Waiter[]>();

  function exit(name: string, line: Waiter[]): Leave {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const next = line.shift();
      if (next === undefined) {
        lines.delete(name);
        return;
      }
      clearTimeout(next.timer);
      next.admit(exit(name, line));
    };
  }

  function wait(line: Waiter[], timeoutMs: number): Promise<Leave | undefined> {
    return new Promise((admit) => {
      const timer = setTimeout(() => {
        line.splice(line.indexOf(waiter), 1);
        admit(undefined);
      }, timeoutMs);
      timer.unref();
      const waiter: Waiter = { timer, admit };
      line.push(waiter);
    });
  }

  return async (key, { timeoutMs, maxWaiters }) => {
    const name = nameOf(key);
    const line = lines.get(name);
    if (line === undefined) {
      const fresh: Waiter[] = [];
      lines.set(name, fresh);
      return exit(name, fresh);
    }
    return line.length >= maxWaiters ? undefined : wait(line, timeoutMs);
  };
}

const nameOf = (key: ScopedKey): string => JSON.stringify([key.tenant, key.intakeId, key.operation, key.hash]);
