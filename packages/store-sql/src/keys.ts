import type { Keys } from "@formbridge/core";
import { apiKeyRow } from "./rows.ts";
import { createCount, type SqlDialect, type SqlRunner, statement } from "./sql.ts";
import { columnsOf, docOf, valuesOf } from "./table.ts";
import { apiKeys } from "./tables.ts";

/** All but `find`, which every request calls: each store has a faster way. */
export function createKeyList(dialect: SqlDialect, runner: SqlRunner): Omit<Keys, "find"> {
  const { sql, pick, places } = dialect;
  const { read, write } = runner;
  const COLUMNS = columnsOf(apiKeys);
  const DOC = pick(apiKeys, "k", "doc");
  const GET = statement(
    "get_key",
    sql`SELECT ${DOC} FROM ${apiKeys} AS k WHERE k.key_id = $1 AND k.tenant = $2 AND NOT k.revoked`,
  );
  const LIST = statement(
    "list_keys",
    sql`SELECT ${DOC} FROM ${apiKeys} AS k WHERE k.tenant = $1 AND k.key_id > $2 AND NOT k.revoked ORDER BY k.key_id LIMIT $3`,
  );
  const ADD = statement(
    "add_key",
    sql`INSERT INTO ${apiKeys} (${COLUMNS.join(", ")}) VALUES (${places(apiKeys, COLUMNS).join(", ")})
      ON CONFLICT DO NOTHING RETURNING key_id`,
  );
  // The row stays without its names, so that the same key can't be added again.
  const REVOKE = statement(
    "revoke_key",
    sql`UPDATE ${apiKeys} SET revoked = true, doc = '{}' WHERE key_id = $1 AND tenant = $2 AND NOT revoked RETURNING key_id`,
  );
  return {
    get: async ({ tenant, keyId }) => (await read(GET, [keyId, tenant])).map(docOf)[0],
    list: async ({ tenant, after = "" }, limit) => (await read(LIST, [tenant, after, limit])).map(docOf),
    count: createCount(dialect, runner, { table: apiKeys, condition: "NOT revoked" }),
    add: async (key) => (await write(ADD, valuesOf(COLUMNS, apiKeyRow(key)))).length === 1,
    revoke: async ({ tenant, keyId }) => (await write(REVOKE, [keyId, tenant])).length === 1,
  };
}
