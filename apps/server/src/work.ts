import { startWorker, type Worker } from "@formbridge/worker";
import type { Logger } from "pino";
import { type ComposeOptions, type Core, composeCore } from "./compose.ts";
import type { Config } from "./config/config.ts";
import { createLogger } from "./logger.ts";

export function startWorkerOn(
  { operations, backend, wakeups }: Core,
  { config, logger, runsJobs }: { config: Config; logger: Logger; runsJobs: boolean },
): Worker {
  const { runHere: _, ...jobs } = config.jobs;
  return startWorker({
    operations,
    jobs: backend.jobs,
    webhooks: backend.webhooks,
    webhooksAtOnce: config.webhooksAtOnce,
    wakeups,
    ...jobs,
    runsJobs,
    graceMs: config.limits.stopGraceMs,
    sweepIntervalMs: config.sweepIntervalMs,
    sweepBatch: config.settings.sweepBatch,
    auditFlushMs: config.auditFlushMs,
    onError: (task, error) => logger.error({ err: error, task }, "background task failed"),
  });
}

/** A process that serves nobody and does the jobs; `stop` finishes those that run. */
export async function work(config: Config, options: ComposeOptions = {}): Promise<{ stop(): Promise<void> }> {
  const core = await composeCore(config, options);
  const worker = startWorkerOn(core, { config, logger: createLogger(config.logLevel), runsJobs: true });
  return {
    async stop() {
      await worker.stop();
      await core.courier.close();
      await core.backend.close();
    },
  };
}
