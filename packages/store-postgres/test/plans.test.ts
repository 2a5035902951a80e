import { fixtures } from "@formbridge/conformance";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { commitBatch, writtenOf } from "../src/commit-statement.ts";
import { connectionSettings } from "../src/database.ts";
import * as loads from "../src/load.ts";
import { COUNTS, NEWEST_FIRST, OLDEST_FIRST } from "../src/submissions.ts";
import { optionsFor } from "./open.ts";

const { creation, update, keyWrite, newHandoff, newReviewLink, HOUR } = fixtures;

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createMigratedDatabase();
  client = new Client(connectionSettings(optionsFor(database.url)));
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

/** The plan that PostgreSQL keeps for a statement, whatever its values are. */
async function keptPlan({ name, text }: { name: string; text: string }): Promise<string> {
  const values = new Set(text.match(/\$\d+/g)).size;
  await client.query("SET plan_cache_mode = force_generic_plan");
  await client.query(`PREPARE ${name}_explained AS ${text}`);
  const nothing = Array.from({ length: values }, () => "'[]'").join(", ");
  const { rows } = await client.query(`EXPLAIN EXECUTE ${name}_explained (${nothing})`);
  await client.query("RESET plan_cache_mode");
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

/** A change with every part that a change can have. */
function everything() {
  const at = 0;
  const first = creation({ at });
  const jobs = [{ key: "later", kind: "deliver" as const, runAt: at }];
  const side = [
    { kind: "handoff" as const, handoff: newHandoff(first, { at, opened: 1 }) },
    { kind: "review_link" as const, link: newReviewLink(first, { at }) },
  ];
  const to = { ...first.row.submission, state: "expired" as const, expiredAt: at };
  const key = keyWrite({ expiresAt: HOUR });
  const dropped = { dropJobs: ["another"], dropKeys: [key.ref], dropLiveKeys: [key.ref] };
  return update(first, at, { to, key, side, jobs, ...dropped, erase: true });
}

const LOADS = Object.values(loads).filter((load) => typeof load === "object");
const COMMITS = [creation({ at: 0 }), everything()].map((change) => commitBatch([writtenOf(change)]).commit);

describe("a plan that is made before there are rows", () => {
  it.each([...COMMITS, ...LOADS])("finds each of them by its own index: $name", async (statement) => {
    const plan = await keptPlan(statement);
    expect(plan).not.toContain("Seq Scan");
    // Indexes that begin with the tenant are for lists.
    expect(plan).not.toMatch(/submissions_by_(tenant|state|intake|creator)/);
  });
});

describe("a list of submissions that are all in one state, of one intake and creator", () => {
  const change = creation({ at: 0 });
  const { tenant, submissionId } = change.row.submission;
  beforeAll(async () => {
    const { commit, values } = commitBatch([writtenOf(change)]);
    await client.query({ text: commit.text, values });
    // The planner expects to find any state on the first page of the primary key. Nothing was vacuumed.
    await client.query(`INSERT INTO formbridge.submissions
      SELECT (jsonb_populate_record(s, jsonb_build_object('submission_id', s.submission_id || lpad(n::text, 6, '0')))).*
        FROM formbridge.submissions AS s, generate_series(1, 20000) AS n
       WHERE s.submission_id = '${submissionId}'`);
    await client.query("ANALYZE formbridge.submissions");
  });

  const LISTS = [NEWEST_FIRST, OLDEST_FIRST].flatMap((direction) => Object.entries(direction));
  const INDEX: Record<string, string> = {
    byState: "submissions_by_state",
    byStateInTime: "submissions_by_state",
    overdue: "submissions_expiring",
    byIntake: "submissions_by_intake",
    byCreator: "submissions_by_creator",
  };

  it.each(LISTS)("follows the index of its filter: %s", async (name, { text }) => {
    const values = [tenant, 50, ["draft", "expired"], "sub_5", null, null, null, null, 0];
    const given = values.slice(0, new Set(text.match(/\$\d+/g)).size);
    for (const mode of ["force_generic_plan", "force_custom_plan"]) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      const { rows } = await client.query({ text: `EXPLAIN ${text}`, values: given });
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).toMatch(new RegExp(`${INDEX[name]} on submissions c\\b`));
      expect(plan).not.toContain("submissions_pkey on submissions c");
    }
    await client.query("RESET plan_cache_mode");
  });

  it.each(Object.entries(COUNTS))("is counted by the index of its filter: %s", async (name, { text }) => {
    const values = [tenant, 50, ["draft", "expired"], "", null, null, null, null, 0];
    const given = values.slice(0, new Set(text.match(/\$\d+/g)).size);
    const { rows } = await client.query({ text: `EXPLAIN ${text}`, values: given });
    expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toMatch(new RegExp(`${INDEX[name]} on submissions c\\b`));
  });
});

it("a plan is kept, however few are committed or loaded together", async () => {
  for (let run = 0; run < 12; run += 1) {
    const change = creation({ at: 0 });
    const { commit, values } = commitBatch([writtenOf(change)]);
    await client.query({ ...commit, values });
    await client.query({ ...loads.LOAD_BY_TOKEN, values: [JSON.stringify([{ place: 0, token: change.token?.hash }])] });
  }
  const { rows } = await client.query(
    "SELECT name, custom_plans::integer AS made FROM pg_prepared_statements WHERE name = ANY ($1)",
    [[loads.LOAD_BY_TOKEN.name, COMMITS[0]?.name]],
  );
  // PostgreSQL tries five times before it decides.
  expect(rows).toMatchObject([{ made: 5 }, { made: 5 }]);
});
