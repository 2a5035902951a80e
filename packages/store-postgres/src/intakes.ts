import type { Intakes } from "@formbridge/core";
import { computed, definitions, fromJson, intakeOf, intakes, toJson } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { countOfTenant, pick, sql, statement } from "./sql.ts";

const INTAKE = sql`SELECT ${pick(intakes, "i")}, ${pick(definitions, "d", "definition")}
  FROM ${intakes} AS i JOIN ${definitions} AS d ON d.digest = i.digest`;
const GET = statement("get_intake", { ...INTAKE, text: `${INTAKE.text} WHERE i.id = $1` });
const LIST = statement("list_intakes", {
  ...INTAKE,
  text: `${INTAKE.text} WHERE ($1::text IS NULL OR i.tenant = $1) AND i.id > $2 ORDER BY i.id LIMIT $3`,
});
const COUNT = countOfTenant(intakes);
const DEFINITION = statement(
  "get_definition",
  sql`SELECT ${pick(definitions, "d", "definition")} FROM ${definitions} AS d WHERE d.digest = $1`,
);
const PUT = statement(
  "put_intake",
  sql`SELECT ${computed<{ outcome: Awaited<ReturnType<Intakes["put"]>> }>("formbridge.put_intake($1, $2, $3, $4, $5, $6) AS outcome")}`,
);
const RETIRE = statement(
  "retire_intake",
  sql`UPDATE ${intakes} SET retired = true, updated_at = formbridge.now_ms()
    WHERE id = $1 AND tenant = $2 AND NOT retired RETURNING id`,
);

export function createIntakes(db: Database): Intakes {
  return {
    get: async (id) => (await db.read(GET, [id])).map(intakeOf)[0],
    definition: async (digest) =>
      (await db.read(DEFINITION, [digest])).map(({ definition }) => fromJson(definition))[0],
    list: async ({ tenant, after = "" }, limit) => (await db.read(LIST, [tenant ?? null, after, limit])).map(intakeOf),
    count: async ({ tenant }, atMost) => (await db.read(COUNT, [tenant, atMost]))[0]?.count ?? 0,
    put: async ({ tenant, source, definition, digest }, expect) => {
      const values = [definition.id, tenant, source, digest, toJson(definition), expect ?? null];
      return (await db.write(PUT, values))[0]?.outcome ?? "changed";
    },
    retire: async ({ tenant, id }) => (await db.write(RETIRE, [id, tenant])).length === 1,
  };
}
