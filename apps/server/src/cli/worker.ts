import { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { ConfigError } from "../config/reader.ts";
import { work } from "../work.ts";
import { print } from "./print.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

export const workerCommand = (): Command =>
  new Command("worker")
    .description(
      "Run only jobs: deliveries, escalations, expiry. For PostgreSQL, beside any number of servers and workers.",
    )
    .addHelpText(
      "after",
      "\nIt takes the same environment as serve.\n\nExample:\n  FORMBRIDGE_DATABASE_URL=postgres://… formbridge worker",
    )
    .action(async () => {
      const config = readConfig();
      if (config.database.kind !== "postgres") {
        throw new ConfigError(
          "formbridge worker needs PostgreSQL (FORMBRIDGE_DATABASE_URL); on an embedded database serve does the jobs itself.",
        );
      }
      const worker = await work(config);
      print("FormBridge is running jobs.");
      if (worker.metricsUrl !== undefined) print(`Metrics: ${worker.metricsUrl}`);
      stopOnSignal(worker);
    });
