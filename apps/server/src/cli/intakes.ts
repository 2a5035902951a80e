import { createWebhookSecrets } from "@formbridge/core";
import { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { secretsFor } from "../config/secret-file.ts";
import { problemLine, readIntakeFolder } from "../intake-folder.ts";
import { complain, print } from "./print.ts";
import { withCore } from "./with-core.ts";

const checkCommand = (): Command =>
  new Command("check")
    .description("Check intake definitions without starting anything; names file and place of every problem.")
    .argument("[folder]", "folder of *.json definitions (default: FORMBRIDGE_INTAKES)")
    .action((folder?: string) => {
      const config = readConfig();
      const place = folder ?? config.intakesFolder;
      const { definitions, problems } = readIntakeFolder(place, { maxFields: config.settings.maxSchemaFields });
      for (const { definition } of definitions) print(`ok  ${definition.id} ${definition.version}  ${definition.name}`);
      for (const problem of problems) complain(problemLine(problem));
      if (problems.length > 0) process.exitCode = 1;
    });

const secretCommand = (): Command =>
  new Command("secret")
    .description(
      "Print the secret that signs an intake's deliveries if its definition has none. Give it to the receiver.",
    )
    .argument("<id>", "the intake")
    .addHelpText("after", "\nExample:\n  formbridge intakes secret vendor-onboarding")
    .action(async (id: string) => {
      await withCore(async ({ backend }, config) => {
        const found = await backend.intakes.get(id);
        if (found === undefined) throw new Error(`There is no intake ${id}.`);
        const [newest] = createWebhookSecrets(secretsFor(config))({ tenant: found.tenant, intakeId: id });
        print(newest ?? "");
      });
    });

export const intakesCommand = (): Command =>
  new Command("intakes")
    .description("Work with intake definitions.")
    .addCommand(checkCommand())
    .addCommand(secretCommand());
