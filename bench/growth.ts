import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./client-process.ts";
import { compare, type Pairing, type Rounds, type Side } from "./compare.ts";
import { fillWithCopies, tokenOfCopy } from "./fill.ts";
import { startOurs } from "./server-process.ts";
import { writeTemplate } from "./template.ts";

/** Writes to the submission that is copied; each creates a token. */
export const TOKENS_EACH = 10;
const SMALL = 10_000 / TOKENS_EACH;
const LARGE = 2_000_000 / TOKENS_EACH;
/** The same number of submissions is used in both files, spread over the whole file. */
const WORKED_ON = 960;

export interface Growth {
  fillSeconds: number;
  tokens: number;
  events: number;
  read: Pairing;
  setFields: Pairing;
}

export function spreadTokens(copies: number): string[] {
  const step = copies / WORKED_ON;
  return Array.from({ length: WORKED_ON }, (_, index) => tokenOfCopy(2 + Math.floor(index * step)));
}

/** The same load on a small file and on one two hundred times as large, alternating. */
export async function measureGrowth(client: Client, folder: string, rounds: Rounds): Promise<Growth> {
  const small = join(folder, "small");
  const large = join(folder, "large");
  mkdirSync(small);
  await writeTemplate(client, { folder: small, writes: TOKENS_EACH });
  cpSync(small, large, { recursive: true });
  fillWithCopies(small, SMALL);
  const started = performance.now();
  const { tokens, events } = fillWithCopies(large, LARGE);
  const fillSeconds = (performance.now() - started) / 1000;
  const sides: [Side, Side] = [
    { server: await startOurs(small), tokens: spreadTokens(SMALL) },
    { server: await startOurs(large), tokens: spreadTokens(LARGE) },
  ];
  try {
    const read = await compare(client, sides, { kind: "read", rounds });
    const setFields = await compare(client, sides, { kind: "setFields", rounds });
    return { fillSeconds, tokens, events, read, setFields };
  } finally {
    for (const { server } of sides) await server.stop();
  }
}
