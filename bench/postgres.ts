import { join } from "node:path";
import type { Client } from "./client-process.ts";
import { startBenchPostgres } from "./cluster.ts";
import { compare, createSide, type Pairing, type Rounds, type Side } from "./compare.ts";
import { startOurs, startPostgresFloor } from "./server-process.ts";

const SUBMISSIONS = 1024;

/** Ours against bare Fastify with one statement per request, each on its own database of one PostgreSQL with fsync. */
export async function measurePostgres(client: Client, parent: string, rounds: Rounds): Promise<Pairing[]> {
  const database = await startBenchPostgres();
  try {
    const floor = await startPostgresFloor(await database.createDatabase("floor"));
    const databaseUrl = await database.createDatabase("ours");
    const ours = await startOurs(join(parent, "on-postgres"), { databaseUrl });
    try {
      const sides: [Side, Side] = [
        { ...(await createSide(client, floor, SUBMISSIONS)), database },
        { ...(await createSide(client, ours, SUBMISSIONS)), database },
      ];
      const pairings: Pairing[] = [];
      for (const kind of ["create", "setFields", "read"] as const) {
        pairings.push(await compare(client, sides, { kind, rounds }));
      }
      return pairings;
    } finally {
      await ours.stop();
      await floor.stop();
    }
  } finally {
    await database.stop();
  }
}
