import type { SecretChecks } from "@formbridge/core";
import { fromJson, secretChecks, toJson } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { pick, sql, statement } from "./sql.ts";

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

export function createSecretChecks(db: Database): SecretChecks {
  return {
    list: async () => (await db.read(LIST, [])).flatMap(({ checks }) => fromJson(checks)),
    replace: async (checks, expected) => {
      const next = toJson(checks);
      const rows = await (expected.length === 0 ? db.write(ADD, [next]) : db.write(REPLACE, [next, toJson(expected)]));
      return rows.length === 1;
    },
  };
}
