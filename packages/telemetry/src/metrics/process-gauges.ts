import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "./registry.ts";

const NANOSECONDS = 1e9;
const QUANTILES = [50, 99, 100];

/** What the process itself uses. Returns how to stop sampling. */
export function observeProcess(metrics: Metrics, { version, role }: { version: string; role: string }): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let counted = 0;
  metrics.set("formbridge_build_info", 1, version, role);
  metrics.set("formbridge_process_start_time_seconds", performance.timeOrigin / 1000);
  metrics.onCollect(() => {
    const { user, system } = process.cpuUsage();
    const cpu = (user + system) / 1e6;
    metrics.count("formbridge_process_cpu_seconds_total", cpu - counted);
    counted = cpu;
    const { rss, heapUsed } = process.memoryUsage();
    metrics.set("formbridge_process_resident_memory_bytes", rss);
    metrics.set("formbridge_process_heap_bytes", heapUsed);
    for (const quantile of QUANTILES) {
      const seconds = delay.percentile(quantile) / NANOSECONDS;
      metrics.set("formbridge_process_event_loop_lag_seconds", seconds, String(quantile / 100));
    }
    delay.reset();
  });
  return () => delay.disable();
}
