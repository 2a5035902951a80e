import { createAesSealer, StoreDown } from "@formbridge/core";
import { openCopySource } from "@formbridge/store-sqlite";
import { Command } from "commander";
import { type DatabaseChoice, readConfigOn } from "../config/config.ts";
import { copyStore } from "../copy-store.ts";
import { complain, print } from "./print.ts";
import { submissionIds, verifyOne } from "./verify-history.ts";

type Postgres = DatabaseChoice & { kind: "postgres" };

/** Verifies every history in the copy, as many concurrently as there are connections. */
async function verifyHistories(choice: Postgres, tenants: ReadonlySet<string>): Promise<void> {
  const { openPostgresBackend } = await import("@formbridge/store-postgres");
  const backend = await openPostgresBackend(choice);
  async function verifyAll(tenant: string, ids: AsyncIterable<string>): Promise<void> {
    for await (const submissionId of ids) {
      const problem = await verifyOne(backend, { tenant, submissionId });
      if (problem !== undefined) throw new Error(`The history of ${submissionId} doesn't verify: ${problem}`);
    }
  }
  async function verifyTenants(): Promise<void> {
    for (const tenant of tenants) {
      // The workers share one generator, which hands out each id once.
      const ids = submissionIds(backend, tenant);
      await Promise.all(Array.from({ length: choice.poolSize }, () => verifyAll(tenant, ids)));
    }
  }
  try {
    await verifyTenants();
  } catch (error) {
    if (!(error instanceof StoreDown)) throw error;
    throw new Error(
      `The copy was interrupted while it was being verified: ${error.message}. Everything was copied. Run the same command again to verify it.`,
      { cause: error },
    );
  } finally {
    await backend.close();
  }
}

async function copy(from: string, to: string): Promise<void> {
  const target = readConfigOn(to);
  const choice = target.database;
  const file = readConfigOn(from).database;
  if (file.kind !== "sqlite" || choice.kind !== "postgres") {
    throw new Error("copy takes --from sqlite:<file> and --to postgres://…");
  }
  const source = openCopySource(file.file);
  try {
    const { openCopyTarget } = await import("@formbridge/store-postgres");
    const opened = await openCopyTarget(choice);
    try {
      const copied = await copyStore(source, opened, {
        sealer: createAesSealer(target.secrets),
        progress: complain,
        verify: (tenants) => verifyHistories(choice, tenants),
      });
      print(copied ? `${source.counts.submissions} submissions copied and verified` : "this file was copied before");
    } finally {
      await opened.close();
    }
  } finally {
    source.close();
  }
}

export const copyCommand = (): Command =>
  new Command("copy")
    .description("Copy everything from SQLite to PostgreSQL, and verify it. If interrupted, run it again to continue.")
    .requiredOption("--from <url>", "sqlite:<file>; stop the server that serves it")
    .requiredOption("--to <url>", "postgres://…, an empty database")
    .addHelpText(
      "after",
      "\nFORMBRIDGE_SECRET must be the secret that the file was served with.\n\nExample:\n" +
        "  FORMBRIDGE_SECRET=$(cat .formbridge/secret) \\\n" +
        "    formbridge copy --from sqlite:.formbridge/formbridge.db --to postgres://formbridge:…@db/formbridge",
    )
    .action(async ({ from, to }: { from: string; to: string }) => copy(from, to));
