import { join } from "node:path";
import type { Client } from "./client-process.ts";
import { startBenchPostgres } from "./cluster.ts";
import { compare, type Rounds, type Side } from "./compare.ts";
import { type Growth, spreadTokens, TOKENS_EACH } from "./growth.ts";
import { fillWithCopies } from "./postgres-fill.ts";
import { startOurs } from "./server-process.ts";
import { writeTemplate } from "./template.ts";

const SMALL = 10_000 / TOKENS_EACH;
const LARGE = 5_000_000 / TOKENS_EACH;

/** The same load on a small database and on one five hundred times as large, alternating, in one PostgreSQL. */
export async function measurePostgresGrowth(
  client: Client,
  folder: string,
  rounds: Rounds,
): Promise<Omit<Growth, "events">> {
  const postgres = await startBenchPostgres();
  const sides: Side[] = [];
  try {
    let fillSeconds = 0;
    let tokens = 0;
    for (const [name, copies] of [["small", SMALL] as const, ["large", LARGE] as const]) {
      const databaseUrl = await postgres.createDatabase(name);
      const started = performance.now();
      const own = join(folder, `postgres-${name}`);
      await writeTemplate(client, { folder: own, databaseUrl, writes: TOKENS_EACH });
      tokens = (await fillWithCopies(postgres, { databaseUrl, copies })).tokens;
      fillSeconds = (performance.now() - started) / 1000;
      const server = await startOurs(own, { databaseUrl });
      sides.push({ server, tokens: spreadTokens(copies), database: postgres });
    }
    const pair = sides as [Side, Side];
    const read = await compare(client, pair, { kind: "read", rounds });
    const setFields = await compare(client, pair, { kind: "setFields", rounds });
    return { fillSeconds, tokens, read, setFields };
  } finally {
    for (const { server } of sides) await server.stop();
    await postgres.stop();
  }
}
