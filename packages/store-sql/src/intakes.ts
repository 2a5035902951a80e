import type { Intakes } from "@formbridge/core";
import { intakeOf } from "./rows.ts";
import { createCount, type SqlDialect, type SqlRunner, statement } from "./sql.ts";
import { fromJson } from "./table.ts";
import { definitions, intakes } from "./tables.ts";

/** All but `put`, which takes several statements. */
export function createIntakeList(dialect: SqlDialect, runner: SqlRunner): Omit<Intakes, "put"> {
  const { sql, pick, parameter, now } = dialect;
  const { read, write } = runner;
  const INTAKE = pick(intakes, "i", "tenant", "source", "digest", "retired", "updated_at");
  const DEFINITION = pick(definitions, "d", "definition");
  const selected = (name: string, rest: string) =>
    statement(
      name,
      sql`SELECT ${INTAKE}, ${DEFINITION} FROM ${intakes} AS i JOIN ${definitions} AS d ON d.digest = i.digest ${rest}`,
    );
  const GET = selected("get_intake", "WHERE i.id = $1");
  const ALL = selected("list_intakes", "WHERE i.id > $1 ORDER BY i.id LIMIT $2");
  const OF_TENANT = selected("intakes_of_tenant", "WHERE i.tenant = $3 AND i.id > $1 ORDER BY i.id LIMIT $2");
  const BY_DIGEST = statement(
    "get_definition",
    sql`SELECT ${DEFINITION} FROM ${definitions} AS d WHERE d.digest = ${parameter("hash", "$1")}`,
  );
  const RETIRE = statement(
    "retire_intake",
    sql`UPDATE ${intakes} SET retired = true, updated_at = ${now} WHERE id = $1 AND tenant = $2 AND NOT retired RETURNING id`,
  );
  return {
    get: async (id) => (await read(GET, [id])).map(intakeOf)[0],
    definition: async (digest) => (await read(BY_DIGEST, [digest])).map(({ definition }) => fromJson(definition))[0],
    list: async ({ tenant, after = "" }, limit) => {
      const rows = tenant === undefined ? read(ALL, [after, limit]) : read(OF_TENANT, [after, limit, tenant]);
      return (await rows).map(intakeOf);
    },
    count: createCount(dialect, runner, { table: intakes }),
    retire: async ({ tenant, id }) => (await write(RETIRE, [id, tenant])).length === 1,
  };
}
