import { Command } from "commander";
import { VERSION } from "../version.ts";
import { copyCommand } from "./copy.ts";
import { doctorCommand } from "./doctor.ts";
import { eventsCommand } from "./events.ts";
import { intakesCommand } from "./intakes.ts";
import { keysCommand } from "./keys.ts";
import { mcpCommand } from "./mcp.ts";
import { migrateCommand } from "./migrate.ts";
import { serveCommand } from "./serve.ts";
import { verifyCommand } from "./verify.ts";
import { workerCommand } from "./worker.ts";

/** Every command, one row each. */
export function createProgram(): Command {
  const program = new Command("formbridge")
    .description("An intake server that agents and humans fill in together.")
    .version(VERSION)
    .showHelpAfterError()
    .addCommand(serveCommand())
    .addCommand(workerCommand())
    .addCommand(mcpCommand())
    .addCommand(keysCommand())
    .addCommand(intakesCommand())
    .addCommand(eventsCommand())
    .addCommand(verifyCommand())
    .addCommand(migrateCommand())
    .addCommand(copyCommand())
    .addCommand(doctorCommand());
  // A mistyped command is told what there is, whichever command it was meant to be.
  for (const command of program.commands) command.showHelpAfterError();
  return program;
}
