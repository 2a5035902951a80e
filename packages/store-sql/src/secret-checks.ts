import type { SecretChecks } from "@formbridge/core";
import { type SqlDialect, type SqlRunner, statement } from "./sql.ts";
import { fromJson, toJson } from "./table.ts";
import { secretChecks } from "./tables.ts";

export function createSecretChecks({ sql, pick }: SqlDialect, { read, write }: SqlRunner): SecretChecks {
  const LIST = statement(
    "list_secret_checks",
    sql`SELECT ${pick(secretChecks, "c", "checks")} FROM ${secretChecks} AS c`,
  );
  const ADD = statement(
    "add_secret_checks",
    sql`INSERT INTO ${secretChecks} (single, checks) VALUES (1, $1) ON CONFLICT DO NOTHING RETURNING single`,
  );
  const REPLACE = statement(
    "replace_secret_checks",
    sql`UPDATE ${secretChecks} SET checks = $1 WHERE checks = $2 RETURNING single`,
  );
  return {
    list: async () => (await read(LIST, [])).flatMap(({ checks }) => fromJson(checks)),
    replace: async (checks, expected) => {
      const next = toJson(checks);
      const rows = await (expected.length === 0 ? write(ADD, [next]) : write(REPLACE, [next, toJson(expected)]));
      return rows.length === 1;
    },
  };
}
