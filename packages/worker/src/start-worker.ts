import type { ClaimLoop } from "./claim-loop.ts";
import { every, type Loop } from "./every.ts";
import { type JobOptions, startJobs } from "./job-loop.ts";
import { startWebhooks, type WebhookOptions } from "./webhook-loop.ts";

export interface WorkerOptions extends JobOptions, WebhookOptions {
  sweepIntervalMs: number;
  sweepBatch: number;
  auditFlushMs: number;
  /** false: another process runs the jobs, and sends events. */
  runsJobs: boolean;
}

export interface Worker extends Loop {
  /** Absent where another process runs the jobs, and sends events. */
  jobs?: ClaimLoop;
  webhooks?: ClaimLoop;
}

/** What the server does by itself: run jobs, send events, expire and warn in time, forget what is over, write down what was read. */
export function startWorker(options: WorkerOptions): Worker {
  const { operations, onError } = options;
  const jobs = options.runsJobs ? startJobs(options) : undefined;
  const webhooks = options.runsJobs ? startWebhooks(options) : undefined;
  const loops = [
    every(
      options.sweepIntervalMs,
      (signal) => sweepAll(options, signal),
      (error) => onError("sweep", error),
    ),
    every(options.sweepIntervalMs, createFileSweep(options), (error) => onError("files", error)),
    every(
      options.auditFlushMs,
      () => operations.flushAudit(),
      (error) => onError("audit", error),
    ),
  ];
  return {
    ...(jobs && { jobs }),
    ...(webhooks && { webhooks }),
    async stop() {
      await Promise.all([jobs?.stop(), webhooks?.stop(), ...loops.map((loop) => loop.stop())]);
      await operations.flushAudit().catch((error: unknown) => onError("audit", error));
    },
  };
}

/** One page a round, so that a large storage is looked through in its own time. */
function createFileSweep({ operations }: WorkerOptions): () => Promise<void> {
  let after: string | undefined;
  return async () => {
    after = (await operations.sweepFiles(after)).next;
  };
}

/** Batch after batch, so that a long queue neither blocks writes nor waits for the next interval. */
async function sweepAll({ operations, sweepBatch }: WorkerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const swept = await operations.sweep(signal);
    if (Object.values(swept).every((count) => count < sweepBatch)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
