import { type Backend, DEFAULT_TENANT } from "@formbridge/core";
import { Command } from "commander";
import { fail, print } from "./print.ts";
import { submissionIds, verifyOne } from "./verify-history.ts";
import { withCore } from "./with-core.ts";

interface Options {
  all?: true;
  tenant?: string;
}

interface Place {
  tenant: string;
  submissionId: string;
}

async function* placesOf(
  backend: Backend,
  submissionId: string | undefined,
  tenant: string | undefined,
): AsyncGenerator<Place, void, undefined> {
  if (submissionId !== undefined) {
    yield { tenant: tenant ?? DEFAULT_TENANT, submissionId };
    return;
  }
  for (const each of tenant === undefined ? await backend.submissions.tenants() : [tenant]) {
    for await (const id of submissionIds(backend, each)) yield { tenant: each, submissionId: id };
  }
}

export const verifyCommand = (): Command =>
  new Command("verify")
    .description("Recompute the hash chain of a history and name the first event that doesn't verify.")
    .argument("[submissionId]", "one submission; without it, --all")
    .option("--all", "every submission of every tenant, or of the one that --tenant names")
    .option("--tenant <id>", `tenant of the submission (default: "${DEFAULT_TENANT}", with --all every tenant)`)
    .action(async (submissionId: string | undefined, { all, tenant }: Options) => {
      if ((submissionId === undefined) === (all === undefined)) throw new Error("name one submission, or --all");
      await withCore(async ({ backend }) => {
        let good = 0;
        for await (const place of placesOf(backend, submissionId, tenant)) {
          const problem = await verifyOne(backend, place);
          if (problem === undefined) good += 1;
          else fail(`broken  ${place.submissionId}  ${problem}`);
        }
        print(`${good} verified`);
      });
    });
