import { plainText } from "./log/fields.ts";
import type { Log } from "./log/record-measure.ts";

interface Outcome {
  /** 0: the collector took it. */
  code: number;
  error?: Error;
}

interface Exporter<Items> {
  export(items: Items, done: (outcome: Outcome) => void): void;
}

/** Logs the first export that fails, and the first one that works again. The SDK has no hook for it. */
export function reportExports<Items>(exporter: Exporter<Items>, what: "metrics" | "traces", log: Log): void {
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (items, done) =>
    send(items, (outcome) => {
      const failed = outcome.code !== 0;
      const about = { component: "otlp", what };
      if (failed && !isFailing) {
        const cause = plainText(outcome.error?.message ?? "unknown");
        log.warn({ ...about, event: "otlp.failed", cause }, `can't send ${what} to the collector`);
      } else if (isFailing && !failed) {
        log.info({ ...about, event: "otlp.working" }, `the collector takes ${what} again`);
      }
      isFailing = failed;
      done(outcome);
    });
}
