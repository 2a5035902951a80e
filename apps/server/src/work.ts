import { startWorker, type Worker } from "@formbridge/worker";
import type { Logger } from "pino";
import { CircuitOpen } from "./breaker/breaker.ts";
import { type ComposeOptions, type Core, composeCore } from "./compose.ts";
import type { Config } from "./config/config.ts";
import { createLoggers } from "./logger.ts";
import { telemetryFor } from "./telemetry.ts";

/** Loops poll all the time: while the store is down, which has a line of its own, they would bury everything else. */
export const logFailedTasks =
  (logger: Logger) =>
  (task: string, error: unknown): void => {
    const level = error instanceof CircuitOpen ? "debug" : "error";
    logger[level]({ err: error, task }, "background task failed");
  };

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
    onError: logFailedTasks(logger),
  });
}

/** A process that only runs jobs and serves no requests; `stop` finishes those in flight. */
export async function work(
  config: Config,
  options: ComposeOptions = {},
): Promise<{ metricsUrl?: string; stop(): Promise<void> }> {
  const { logger, lines, flush } = createLoggers(config.logLevel, { format: config.telemetry.log.format });
  const telemetry = telemetryFor(config, { lines, role: "worker" });
  const core = await composeCore(config, { ...telemetry, ...options });
  const started = await telemetry.start(core).catch(async (error: unknown) => {
    await core.backend.close();
    throw error;
  });
  const worker = startWorkerOn(core, { config, logger, runsJobs: true });
  return {
    ...started,
    async stop() {
      await worker.stop();
      await core.courier.close();
      await telemetry.stop();
      await core.backend.close();
      await flush();
    },
  };
}
