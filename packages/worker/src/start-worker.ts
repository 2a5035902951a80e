import { setImmediate as turn } from "node:timers/promises";
import type { ClaimLoop } from "./claim-loop.ts";
import { every, type Loop } from "./every.ts";
import { type JobOptions, startJobs } from "./job-loop.ts";
import { startWebhooks, type WebhookOptions } from "./webhook-loop.ts";

export interface WorkerOptions extends JobOptions, WebhookOptions {
  sweepIntervalMs: number;
  sweepBatch: number;
  auditFlushMs: number;
  /** false if another process runs the jobs and sends events. */
  runsJobs: boolean;
}

export interface Worker extends Loop {
  /** Absent if another process runs the jobs and sends events. */
  jobs?: ClaimLoop;
  webhooks?: ClaimLoop;
}

/** The server's background work: run jobs, send events, expire and warn, clean up, write read audits. */
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

/** One page per round, so that sweeping a large storage doesn't hold up the rest. */
function createFileSweep({ operations }: WorkerOptions): () => Promise<void> {
  let after: string | undefined;
  return async () => {
    after = (await operations.sweepFiles(after)).next;
  };
}

/** Batch after batch, so that a long backlog neither blocks writes nor waits for the next interval. */
async function sweepAll({ operations, sweepBatch }: WorkerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const swept = await operations.sweep(signal);
    if (Object.values(swept).every((count) => count < sweepBatch)) return;
    await turn();
  }
}
