import type { Operations } from "@formbridge/core";
import { every, type Loop } from "./every.ts";

export interface WorkerOptions {
  operations: Operations;
  sweepIntervalMs: number;
  sweepBatch: number;
  auditFlushMs: number;
  onError(task: string, error: unknown): void;
}

/** What the server does by itself: expire and warn in time, forget what is over, write down what was read. */
export function startWorker(options: WorkerOptions): Loop {
  const { operations, onError } = options;
  const loops = [
    every(
      options.sweepIntervalMs,
      () => sweepAll(options),
      (error) => onError("sweep", error),
    ),
    every(
      options.auditFlushMs,
      () => operations.flushAudit(),
      (error) => onError("audit", error),
    ),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await operations.flushAudit().catch((error: unknown) => onError("audit", error));
    },
  };
}

const MAX_ROUNDS = 1000;

/** Batch after batch, so that a long queue neither blocks writes nor waits for the next interval. */
async function sweepAll({ operations, sweepBatch }: WorkerOptions): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const swept = await operations.sweep();
    if (Object.values(swept).every((count) => count < sweepBatch)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
