import { Command } from "commander";
import { tenantOption } from "./history.ts";
import { complain, print } from "./print.ts";
import { submissionIds, verifyOne } from "./verify-history.ts";
import { withCore } from "./with-core.ts";

export const verifyCommand = (): Command =>
  new Command("verify")
    .description("Re-compute the hash chain of a history and name the first event that does not hold.")
    .argument("[submissionId]", "one submission; without it, --all")
    .option("--all", "every submission of the tenant")
    .addOption(tenantOption())
    .action(async (submissionId: string | undefined, options: { all?: true; tenant: string }) => {
      if ((submissionId === undefined) === (options.all === undefined))
        throw new Error("name one submission, or --all");
      await withCore(async ({ backend }) => {
        const { tenant } = options;
        let good = 0;
        for await (const id of submissionId === undefined ? submissionIds(backend, tenant) : [submissionId]) {
          const problem = await verifyOne(backend, { tenant, submissionId: id });
          if (problem === undefined) {
            good += 1;
            continue;
          }
          complain(`broken  ${id}  ${problem}`);
          process.exitCode = 1;
        }
        print(`${good} verified`);
      });
    });
