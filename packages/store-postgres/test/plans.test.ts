import { fixtures } from "@formbridge/conformance";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { COMMIT_GROUP, groupRow, groupValues } from "../src/group-statement.ts";
import * as loads from "../src/load-statements.ts";

const { creation } = fixtures;

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createMigratedDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

/** The plan that is kept for a statement, whatever its values are. */
async function keptPlan({ name, text }: { name: string; text: string }): Promise<string> {
  const values = new Set(text.match(/\$\d+/g)).size;
  await client.query("SET plan_cache_mode = force_generic_plan");
  await client.query(`PREPARE ${name}_explained AS ${text}`);
  const nothing = Array.from({ length: values }, () => "'{}'").join(", ");
  const { rows } = await client.query(`EXPLAIN EXECUTE ${name}_explained (${nothing})`);
  await client.query("RESET plan_cache_mode");
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

describe("a plan that is made before there are rows", () => {
  it.each([COMMIT_GROUP, ...Object.values(loads)])("finds each of them by its own index: $name", async (statement) => {
    const plan = await keptPlan(statement);
    expect(plan).not.toContain("Seq Scan");
    // The others that begin with the tenant are for lists.
    expect(plan).not.toContain("submissions_by_");
  });
});

it("a plan is kept, however few are committed or asked for together", async () => {
  for (let run = 0; run < 12; run += 1) {
    const change = creation({ at: 0 });
    await client.query({ ...COMMIT_GROUP, values: groupValues([groupRow(change)]) });
    await client.query({ ...loads.LOAD_BY_TOKEN, values: [[change.token?.hash], [null], [null]] });
  }
  const { rows } = await client.query(
    "SELECT name, custom_plans::integer AS made FROM pg_prepared_statements WHERE name IN ($1, $2) ORDER BY name",
    [COMMIT_GROUP.name, loads.LOAD_BY_TOKEN.name],
  );
  // PostgreSQL tries five times before it decides.
  expect(rows).toEqual([
    { name: "commit_group", made: 5 },
    { name: "load_by_token", made: 5 },
  ]);
});
