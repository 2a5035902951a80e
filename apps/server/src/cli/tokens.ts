import { type Operations, type TokenView, toIso } from "@formbridge/core";
import { Command, InvalidArgumentError } from "commander";
import { tenantOption } from "./history.ts";
import { complain, fail, print, printTable } from "./print.ts";
import { withCore } from "./with-core.ts";

interface Options {
  tenant: string;
}

/** The terms that the documentation uses for tokens. */
const STATE: Record<TokenView["status"], string> = {
  current: "current",
  stale: "rotated",
  revoked: "revoked",
  elapsed: "lapsed",
};
const PAGE = 1000;

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It takes a number from 1 to 999999.");
  return Number(text);
}

/** A submission's tokens, newest first, up to a number. Reports an error if there is no such submission. */
async function tokensOf(
  { listTokens }: Operations,
  where: { tenant: string; submissionId: string },
  atMost: number,
): Promise<TokenView[] | undefined> {
  const byVersion = new Map<number, TokenView>();
  for (let offset = 0; byVersion.size < atMost; offset += PAGE) {
    const limit = Math.min(PAGE, atMost - offset);
    const page = await listTokens(where, { limit, offset });
    if (page === undefined) {
      fail(`there is no submission ${where.submissionId}`);
      return undefined;
    }
    // A token issued meanwhile shifts the others towards the next page, where they appear again.
    for (const token of page) byVersion.set(token.version, token);
    if (page.length < limit) break;
  }
  return [...byVersion.values()];
}

const listCommand = (): Command =>
  new Command("list")
    .description("List a submission's tokens, newest first, by the beginning of their hashes. Never prints a token.")
    .argument("<submissionId>")
    .option("--limit <number>", "how many at most", wholeNumber, 100)
    .addOption(tenantOption())
    .action(async (submissionId: string, { tenant, limit }: Options & { limit: number }) => {
      await withCore(async ({ operations, backend }) => {
        const tokens = await tokensOf(operations, { tenant, submissionId }, limit);
        if (tokens === undefined) return;
        printTable(
          ["hash", "version", "issued", "expires", "state"],
          tokens.map(({ hashPrefix, version, issuedAt, expiresAt, status }) => [
            hashPrefix,
            String(version),
            toIso(issuedAt),
            toIso(expiresAt),
            STATE[status],
          ]),
        );
        const hidden = (await backend.tokens.count({ tenant, submissionId })) - tokens.length;
        if (hidden > 0) complain(`${hidden} older ones are not shown: use --limit`);
      });
    });

const countCommand = (): Command =>
  new Command("count")
    .description("Count a submission's tokens by state.")
    .argument("<submissionId>")
    .addOption(tenantOption())
    .action(async (submissionId: string, { tenant }: Options) => {
      await withCore(async ({ operations }) => {
        const tokens = await tokensOf(operations, { tenant, submissionId }, Number.POSITIVE_INFINITY);
        if (tokens === undefined) return;
        for (const [status, state] of Object.entries(STATE)) {
          print(`${state} ${tokens.filter((token) => token.status === status).length}`);
        }
        print(`total ${tokens.length}`);
      });
    });

export const tokensCommand = (): Command =>
  new Command("tokens")
    .description("Look at the tokens of a submission.")
    .addCommand(listCommand())
    .addCommand(countCommand());
