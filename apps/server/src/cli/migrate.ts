import { Command } from "commander";
import { print } from "./print.ts";
import { withCore } from "./with-core.ts";

export const migrateCommand = (): Command =>
  new Command("migrate")
    .description(
      "Migrate the database to this version's schema. serve does this by itself; run it to do it beforehand.",
    )
    .action(async () => {
      await withCore(async ({ health }) => {
        const { store } = await health();
        print(
          store?.healthy === true
            ? "the database is up to date"
            : `the database does not answer: ${store?.detail ?? ""}`,
        );
        if (store?.healthy !== true) process.exitCode = 1;
      });
    });
