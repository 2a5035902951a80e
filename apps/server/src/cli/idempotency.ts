import { type KeyRecordView, type Operations, toIso } from "@formbridge/core";
import { Command, InvalidArgumentError, Option } from "commander";
import { tenantOption } from "./history.ts";
import { complain, fail, print } from "./print.ts";
import { withCore } from "./with-core.ts";

interface Options {
  tenant: string;
  intake?: string;
  operation?: KeyRecordView["operation"];
}

const OPERATIONS: readonly KeyRecordView["operation"][] = ["create", "setFields", "submit"];
const MIN_DIGITS = 8;
const MAX_FOUND = 1000;

/** Log lines have the first 16 digits of a hash, events have all 64. */
function hashOrBeginning(text: string): string {
  const hash = text.toLowerCase();
  if (/^[0-9a-f]+$/.test(hash) && hash.length >= MIN_DIGITS && hash.length <= 64) return hash;
  throw new InvalidArgumentError(
    `It takes ${MIN_DIGITS} to 64 hexadecimal digits: the key's SHA-256, or its beginning.`,
  );
}

async function recordsOf({ findKeyRecords }: Operations, hash: string, options: Options): Promise<KeyRecordView[]> {
  const { tenant, intake, operation } = options;
  const found = await findKeyRecords({ tenant, hash }, MAX_FOUND);
  return found.filter(
    (record) =>
      (intake === undefined || record.intakeId === intake) &&
      (operation === undefined || record.operation === operation),
  );
}

const shown = ({ isLive, recordedAt, expiresAt, ...record }: KeyRecordView): string =>
  JSON.stringify({
    ...record,
    status: isLive ? "live" : "expired",
    recordedAt: toIso(recordedAt),
    expiresAt: toIso(expiresAt),
  });

const NONE = "there is no record under this key";

const withOptions = (command: Command): Command =>
  command
    .argument("<key hash>", "the SHA-256 of an idempotency key, or how it begins", hashOrBeginning)
    .option("--intake <id>", "only the record of this intake")
    .addOption(new Option("--operation <name>", "only the record of this operation").choices(OPERATIONS))
    .addOption(tenantOption());

const showCommand = (): Command =>
  withOptions(
    new Command("show").description(
      "Print what is recorded under an idempotency key, one JSON object per record. Never prints the key or the response.",
    ),
  ).action(async (hash: string, options: Options) => {
    await withCore(async ({ operations }) => {
      const found = await recordsOf(operations, hash, options);
      for (const record of found) print(shown(record));
      if (found.length === 0) fail(NONE);
    });
  });

const deleteCommand = (): Command =>
  withOptions(
    new Command("delete").description(
      "Delete the record of an idempotency key and note it in the history. Whoever repeats the request executes it again.",
    ),
  ).action(async (hash: string, options: Options) => {
    await withCore(async ({ operations }) => {
      const [record, ...others] = await recordsOf(operations, hash, options);
      if (record === undefined) return fail(NONE);
      if (others.length > 0) {
        for (const each of [record, ...others]) complain(shown(each));
        return fail("several records match: name one with all digits of its hash, --intake and --operation");
      }
      if (!(await operations.deleteKeyRecord(record))) {
        return fail("the submission keeps changing, so nothing was deleted: run this again");
      }
      print(`deleted  ${shown(record)}`);
    });
  });

export const idempotencyCommand = (): Command =>
  new Command("idempotency")
    .description("Show and delete what is recorded under idempotency keys.")
    .addCommand(showCommand())
    .addCommand(deleteCommand());
