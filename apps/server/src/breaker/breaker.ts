import { CallRefused, type Health, StoreDown } from "@formbridge/core";

/** How a call uses the backend. A backend that can't be written may still be readable, as with a full disk. */
export type Access = "read" | "write";

/** Called when a circuit opens and closes. */
export interface BreakerNotes {
  opened(access: Access, cause: unknown): void;
  closed(access: Access): void;
  /** A call was refused without being made. */
  rejected?(access: Access): void;
}

export interface BreakerOptions {
  /** A real query to the backend; never throws. */
  probe(): Promise<Health>;
  notes?: BreakerNotes;
  /** How many failures in a row open a circuit. */
  failures?: number;
  /** The interval between probes of an open circuit, and the timeout of each. */
  probeEveryMs?: number;
  /** Runs a task later; returns how to cancel it. */
  later?: (task: () => void, ms: number) => () => void;
}

/** The circuit is open, so the call was not made. */
export class CircuitOpen extends StoreDown {
  constructor(detail: string) {
    super(`not called, because it is down: ${detail}`, "not_applied");
  }
}

export interface Breaker {
  /** Makes the call, or throws `CircuitOpen` without making it. */
  guard<Result>(access: Access, call: () => Promise<Result>): Promise<Result>;
  /** Probes the backend, with the timeout of a probe. While a circuit is open, returns the last probe's result. */
  health(): Promise<Health>;
  /** Stops probing. */
  stop(): void;
}

const FAILURES = 5;
const PROBE_EVERY_MS = 1_000;
const SILENT: BreakerNotes = { opened: () => {}, closed: () => {} };

function onTimer(task: () => void, ms: number): () => void {
  const timer = setTimeout(task, ms).unref();
  return () => clearTimeout(timer);
}

/**
 * One circuit for reads and one for writes. A backend that can't be read isn't written either.
 *
 *   closed ──failures in a row──▶ open ──a probe finds the backend healthy──▶ closed
 *
 * Callers' requests are never used as probes: they would wait for a timeout, or end with an unknown outcome.
 */
export function createBreaker(options: BreakerOptions): Breaker {
  const { probe, notes = SILENT, failures = FAILURES, probeEveryMs = PROBE_EVERY_MS, later = onTimer } = options;
  let known: Health = { healthy: true, latencyMs: 0 };
  let callOff: (() => void) | undefined;
  let stopped = false;
  const circuits = { read: circuit("read"), write: circuit("write") };

  function circuit(access: Access) {
    let inARow = 0;
    let open = false;

    function failed(error: unknown): void {
      if (!(error instanceof StoreDown) || error instanceof CallRefused) return;
      inARow += 1;
      if (open || inARow < failures) return;
      open = true;
      known = { healthy: false, latencyMs: 0, detail: error.message };
      notes.opened(access, error);
      probeLater(0);
    }

    return {
      isOpen: () => open,
      async run<Result>(call: () => Promise<Result>): Promise<Result> {
        try {
          const result = await call();
          inARow = 0;
          return result;
        } catch (error) {
          failed(error);
          throw error;
        }
      },
      close() {
        if (!open) return;
        // Calls from before may still fail; these alone must not open it again.
        inARow = 0;
        open = false;
        notes.closed(access);
      },
    };
  }

  const isOpen = (): boolean => circuits.read.isOpen() || circuits.write.isOpen();

  /** Measured from the start of one probe to the start of the next, so after one that hung the next follows at once. */
  function probeLater(tookMs: number): void {
    if (stopped) return;
    callOff ??= later(
      async () => {
        callOff = undefined;
        known = await bounded();
        if (known.healthy) for (const each of Object.values(circuits)) each.close();
        if (isOpen()) probeLater(known.latencyMs);
      },
      Math.max(0, probeEveryMs - tookMs),
    );
  }

  /** A backend that hangs is treated like one that fails. */
  function bounded(): Promise<Health> {
    return new Promise((resolve) => {
      const detail = `no response within ${probeEveryMs} ms`;
      const giveUp = later(() => resolve({ healthy: false, latencyMs: probeEveryMs, detail }), probeEveryMs);
      void probe().then((health) => {
        giveUp();
        resolve(health);
      });
    });
  }

  return {
    guard(access, call) {
      if (circuits.read.isOpen() || circuits[access].isOpen()) {
        notes.rejected?.(access);
        return Promise.reject(new CircuitOpen(known.detail ?? ""));
      }
      return circuits[access].run(call);
    },
    health: async () => (isOpen() ? { ...known, healthy: false } : await bounded()),
    stop() {
      stopped = true;
      callOff?.();
    },
  };
}
