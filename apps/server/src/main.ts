import { cutSecrets } from "@formbridge/contract";
import { ContractError } from "@formbridge/core";
import { complain } from "./cli/print.ts";
import { createProgram } from "./cli/program.ts";

try {
  const program = await createProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  const words = error instanceof Error ? error.message : String(error);
  complain(cutSecrets(error instanceof ContractError ? `${error.type}: ${words}` : words));
  process.exitCode = 1;
}
