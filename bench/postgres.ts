import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as PostgresClient } from "pg";
import { startDurablePostgres } from "../test/support/services/start-postgres.ts";
import type { Client } from "./client-process.ts";
import { compare, createSide, type Pairing, type Rounds, type Side } from "./compare.ts";
import { startOurs, startPostgresFloor } from "./server-process.ts";

const SUBMISSIONS = 1024;

async function createDatabases(server: string, names: readonly string[]): Promise<string[]> {
  const admin = new PostgresClient({ connectionString: `${server}/postgres` });
  await admin.connect();
  try {
    for (const name of names) await admin.query(`CREATE DATABASE ${name}`);
  } finally {
    await admin.end();
  }
  return names.map((name) => `${server}/${name}`);
}

/** Ours against bare Fastify with one statement a request, each on a database of one PostgreSQL that waits for the disk. */
export async function measurePostgres(client: Client, parent: string, rounds: Rounds): Promise<Pairing[]> {
  // Not below the private folder of the run: PostgreSQL runs as an account of its own.
  const folder = mkdtempSync(join(tmpdir(), "formbridge-bench-postgres-"));
  const postgres = await startDurablePostgres(folder);
  try {
    const [floorUrl = "", oursUrl = ""] = await createDatabases(postgres.details.url ?? "", ["floor", "ours"]);
    const floor = await startPostgresFloor(floorUrl);
    const ours = await startOurs(join(parent, "on-postgres"), { databaseUrl: oursUrl });
    try {
      const sides: [Side, Side] = [
        await createSide(client, floor, SUBMISSIONS),
        await createSide(client, ours, SUBMISSIONS),
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
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
