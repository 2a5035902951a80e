import type { Keys } from "@formbridge/core";
import { apiKeyRow, apiKeys, columnsOf, computed, fromJson } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { gatherQuestions } from "./gathered.ts";
import { countOfTenant, pick, sql, statement } from "./sql.ts";

const DOC = pick(apiKeys, "k", "doc");
const FIND = statement(
  "find_key",
  sql`SELECT ${computed<{ place: number }>("q.place")}, ${DOC} FROM json_to_recordset($1) AS q (place integer, hash text)
    CROSS JOIN LATERAL (
      SELECT doc FROM ${apiKeys} WHERE hash = q.hash AND NOT revoked
         AND (expires_at IS NULL OR expires_at > formbridge.now_ms()) LIMIT 1) AS k`,
);
const GET = statement(
  "get_key",
  sql`SELECT ${DOC} FROM ${apiKeys} AS k WHERE k.key_id = $1 AND k.tenant = $2 AND NOT k.revoked`,
);
const LIST = statement(
  "list_keys",
  sql`SELECT ${DOC} FROM ${apiKeys} AS k WHERE k.tenant = $1 AND k.key_id > $2 AND NOT k.revoked ORDER BY k.key_id LIMIT $3`,
);
const COUNT = countOfTenant(apiKeys, "NOT revoked");
const ADD = statement(
  "add_key",
  sql`INSERT INTO ${apiKeys} (${columnsOf(apiKeys).join(", ")})
    SELECT * FROM (SELECT ${pick(apiKeys, "n")} FROM json_populate_record(NULL::formbridge.api_keys, $1) AS n) AS n
    ON CONFLICT DO NOTHING RETURNING key_id`,
);
// The row stays, so that the same key can't be added again.
const REVOKE = statement(
  "revoke_key",
  sql`UPDATE ${apiKeys} SET revoked = true, doc = '{}' WHERE key_id = $1 AND tenant = $2 AND NOT revoked RETURNING key_id`,
);

export function createKeys(db: Database): Keys {
  const ask = gatherQuestions(db, FIND);
  return {
    find: async (hash) => {
      const found = await ask({ hash });
      return found && fromJson(found.doc);
    },
    get: async ({ tenant, keyId }) => (await db.read(GET, [keyId, tenant])).map(({ doc }) => fromJson(doc))[0],
    list: async ({ tenant, after = "" }, limit) =>
      (await db.read(LIST, [tenant, after, limit])).map(({ doc }) => fromJson(doc)),
    count: async ({ tenant }, atMost) => (await db.read(COUNT, [tenant, atMost]))[0]?.count ?? 0,
    add: async (key) => (await db.write(ADD, [JSON.stringify(apiKeyRow(key))])).length === 1,
    revoke: async ({ tenant, keyId }) => (await db.write(REVOKE, [keyId, tenant])).length === 1,
  };
}
