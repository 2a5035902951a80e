import type { EraseActorReport } from "@formbridge/contract";
import { DEFAULT_TENANT, type Operations } from "@formbridge/core";
import { Command } from "commander";
import { complain, print } from "./print.ts";
import { withCore } from "./with-core.ts";

interface Options {
  actor: string;
  tenant: string;
  dryRun?: true;
}

const PAGE = 200;

/** `agent:<id>`, `human:<id>`, or the id alone for both. Ids may contain colons themselves. */
function soughtOf(actor: string): { kind?: "agent" | "human"; id: string } {
  const [kind, ...rest] = actor.split(":");
  const sought =
    (kind === "agent" || kind === "human") && rest.length > 0 ? { kind, id: rest.join(":") } : { id: actor };
  if (sought.id === "") throw new Error("--actor takes agent:<id>, human:<id> or <id>");
  return sought as { kind?: "agent" | "human"; id: string };
}

/** Counts add up, lists are joined. */
function add(to: EraseActorReport, more: EraseActorReport): EraseActorReport {
  const { configured } = to;
  const sums = Object.entries(to).map(([name, value]) => {
    const other = more[name as keyof EraseActorReport];
    if (typeof value === "number") return [name, value + Number(other)];
    return [name, Array.isArray(value) ? [...value, ...(other as string[])] : configured];
  });
  return Object.fromEntries(sums) as EraseActorReport;
}

async function eraseAll(operations: Operations, { actor, tenant, dryRun }: Options): Promise<EraseActorReport> {
  const erasure = { tenant, sought: soughtOf(actor), dryRun: dryRun === true };
  let total: EraseActorReport | undefined;
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { report, next } = await operations.eraseActorFor(erasure, { after, limit: PAGE });
    total = total === undefined ? report : add(total, report);
    if (next !== undefined && total.scanned > 0) complain(`${total.scanned} searched`);
    after = next;
  }
  return total as EraseActorReport;
}

/** What is left for the operator to do. */
function remaining({ waiting, failed, configured }: EraseActorReport): string[] {
  return [
    ...(waiting.length > 0 ? [`${waiting.length} have not ended: run this again after they have, or cancel them`] : []),
    ...(failed.length > 0 ? [`${failed.length} could not be erased: run this again`] : []),
    ...configured.keys.map((keyId) => `key ${keyId} may still act for the actor: replace it`),
    ...configured.intakes.map((id) => `intake ${id} still names the actor as a reviewer: change it`),
  ];
}

/** Counts of `scanned` aside, which grow whatever is found. */
const isEmpty = ({ scanned: _, configured: { keys, intakes }, ...found }: EraseActorReport): boolean =>
  [...Object.values(found), keys, intakes].every((value) =>
    typeof value === "number" ? value === 0 : value.length === 0,
  );

export const eraseCommand = (): Command =>
  new Command("erase")
    .description("Erase everything about an actor: what they created, and their part in what others created.")
    .requiredOption("--actor <id>", "whom to erase: human:<id>, agent:<id>, or <id> for both")
    .option("--dry-run", "only count what would be erased")
    .option("--tenant <id>", "tenant of the actor", DEFAULT_TENANT)
    .addHelpText(
      "after",
      "\nPrints a report as JSON, which names nobody. Exits with 2 while something is left to erase.\nRunning it again is harmless, and completes what was interrupted.",
    )
    .action(async (options: Options) => {
      await withCore(async ({ operations }) => {
        const report = await eraseAll(operations, options);
        print(JSON.stringify({ dryRun: options.dryRun === true, ...report }, undefined, 2));
        for (const line of remaining(report)) complain(line);
        if (isEmpty(report)) complain("nothing was found about this actor; is the id right?");
        if (report.waiting.length + report.failed.length > 0) process.exitCode = 2;
      });
    });
