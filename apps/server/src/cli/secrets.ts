import { Command } from "commander";
import { composeCore } from "../compose.ts";
import { readConfig } from "../config/config.ts";
import { resealStore } from "../reseal-store.ts";
import { complain, print } from "./print.ts";
import { withCore } from "./with-core.ts";

export function secretsCommand(): Command {
  const secrets = new Command("secrets").description("Secrets that data is sealed with.");
  secrets
    .command("reseal")
    .description(
      "Seal everything with the first secret of FORMBRIDGE_SECRET, so that the others can be retired. Servers may run meanwhile.",
    )
    .action(async () => {
      const count = await withCore(({ backend, sealer }) => resealStore(backend.sealedRows, sealer, complain));
      print(
        `${count} resealed. Remove the other secrets from FORMBRIDGE_SECRET everywhere, then run: formbridge secrets retire`,
      );
    });
  secrets
    .command("retire")
    .description(
      "Stop requiring secrets that are no longer in FORMBRIDGE_SECRET, if nothing is sealed with them any more.",
    )
    .option("--lose-sealed", "retire them although values are still sealed with them; these can't be opened any more")
    .action(async ({ loseSealed }: { loseSealed?: true }) => {
      const core = await composeCore(readConfig(), { retiresSecrets: { losing: loseSealed === true } });
      await core.backend.close();
      print("From now on only the secrets in FORMBRIDGE_SECRET are required.");
    });
  return secrets;
}
