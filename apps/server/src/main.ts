import { ContractError } from "@formbridge/core";
import { complain } from "./cli/print.ts";
import { createProgram } from "./cli/program.ts";
import { cutSecrets } from "./logger.ts";

try {
  await createProgram().parseAsync();
} catch (error) {
  const words = error instanceof Error ? error.message : String(error);
  complain(cutSecrets(error instanceof ContractError ? `${error.type}: ${words}` : words));
  process.exitCode = 1;
}
