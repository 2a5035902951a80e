import { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { problemLine, readIntakeFolder } from "../intake-folder.ts";
import { complain, print } from "./print.ts";

const checkCommand = (): Command =>
  new Command("check")
    .description("Check intake definitions without starting anything; names the file and the place of every problem.")
    .argument("[folder]", "folder of *.json definitions (default: FORMBRIDGE_INTAKES)")
    .action((folder?: string) => {
      const config = readConfig();
      const place = folder ?? config.intakesFolder;
      const { definitions, problems } = readIntakeFolder(place, { maxFields: config.settings.maxSchemaFields });
      for (const { definition } of definitions) print(`ok  ${definition.id} ${definition.version}  ${definition.name}`);
      for (const problem of problems) complain(problemLine(problem));
      if (problems.length > 0) process.exitCode = 1;
    });

export const intakesCommand = (): Command =>
  new Command("intakes").description("Work with intake definitions.").addCommand(checkCommand());
