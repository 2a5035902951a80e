import { Command } from "commander";
import { VERSION } from "../version.ts";

/** Every command, one row each. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import("./serve.ts")).serveCommand(),
  worker: async () => (await import("./worker.ts")).workerCommand(),
  mcp: async () => (await import("./mcp.ts")).mcpCommand(),
  keys: async () => (await import("./keys.ts")).keysCommand(),
  intakes: async () => (await import("./intakes.ts")).intakesCommand(),
  tokens: async () => (await import("./tokens.ts")).tokensCommand(),
  idempotency: async () => (await import("./idempotency.ts")).idempotencyCommand(),
  events: async () => (await import("./events.ts")).eventsCommand(),
  verify: async () => (await import("./verify.ts")).verifyCommand(),
  erase: async () => (await import("./erase.ts")).eraseCommand(),
  migrate: async () => (await import("./migrate.ts")).migrateCommand(),
  copy: async () => (await import("./copy.ts")).copyCommand(),
  secrets: async () => (await import("./secrets.ts")).secretsCommand(),
  probe: async () => (await import("./probe.ts")).probeCommand(),
  chaos: async () => (await import("./chaos.ts")).chaosCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
};

/** Loads all commands, or only the requested one, which then starts without loading what the others need. */
export async function createProgram(asked?: string): Promise<Command> {
  const program = new Command("formbridge")
    .description("An intake server that agents and humans fill in together.")
    .version(VERSION)
    .showHelpAfterError();
  const wanted = Object.entries(COMMANDS).filter(([name]) => name === asked);
  for (const [, load] of wanted.length > 0 ? wanted : Object.entries(COMMANDS)) program.addCommand(await load());
  // Show the help after a mistyped command.
  for (const command of program.commands) command.showHelpAfterError();
  return program;
}
