import { Command } from "commander";
import { historyOf, tenantOption } from "./history.ts";
import { fail, print } from "./print.ts";
import { withCore } from "./with-core.ts";

export const eventsCommand = (): Command =>
  new Command("events")
    .description("Print a submission's history, all streams, one JSON object per line.")
    .argument("<submissionId>")
    .addOption(tenantOption())
    .action(async (submissionId: string, { tenant }: { tenant: string }) => {
      await withCore(async ({ backend }) => {
        let count = 0;
        for await (const event of historyOf(backend, { tenant, submissionId })) {
          count += 1;
          print(JSON.stringify(event));
        }
        if (count === 0) fail(`there is no submission ${submissionId}`);
      });
    });
