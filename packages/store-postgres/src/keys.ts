import type { ApiKey, Keys } from "@formbridge/core";
import { unnested } from "./arrays.ts";
import type { Database, Statement } from "./database.ts";
import { gatherQuestions } from "./gathered.ts";
import type { ReadCache } from "./read-cache.ts";

const FIND: Statement = {
  name: "find_key",
  text: `SELECT q.place, k.doc FROM ${unnested("$1::text[]")} AS q (hash, place)
    CROSS JOIN LATERAL (
      SELECT doc FROM formbridge.api_keys WHERE hash = q.hash AND NOT revoked
        AND (expires_at IS NULL OR expires_at > formbridge.now_ms()) LIMIT 1) AS k`,
};
const GET: Statement = {
  name: "get_key",
  text: "SELECT doc FROM formbridge.api_keys WHERE key_id = $1 AND tenant = $2 AND NOT revoked",
};
const LIST: Statement = {
  name: "list_keys",
  text: `SELECT doc FROM formbridge.api_keys WHERE tenant = $1 AND key_id > $2 AND NOT revoked ORDER BY key_id LIMIT $3`,
};
const ADD: Statement = {
  name: "add_key",
  text: `INSERT INTO formbridge.api_keys (key_id, hash, tenant, expires_at, doc) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING RETURNING key_id`,
};
// The row stays, so that the same key can't be added again.
const REVOKE: Statement = {
  name: "revoke_key",
  text: `UPDATE formbridge.api_keys SET revoked = true WHERE key_id = $1 AND tenant = $2 AND NOT revoked RETURNING key_id`,
};

interface DocColumn {
  doc: string;
}
const keyOf = ({ doc }: DocColumn): ApiKey => JSON.parse(doc);

export function createKeys(db: Database, cache: ReadCache): Keys {
  const ask = gatherQuestions<DocColumn>(db, FIND);
  async function read(hash: string): Promise<ApiKey | undefined> {
    const found = await ask([hash]);
    return found && keyOf(found);
  }
  return {
    find: async (hash) => {
      const { now, value: key } = await cache.get(`key ${hash}`, () => read(hash));
      return key?.expiresAt !== undefined && key.expiresAt <= now ? undefined : key;
    },
    get: async ({ tenant, keyId }) => (await db.read<DocColumn>(GET, [keyId, tenant])).map(keyOf)[0],
    list: async ({ tenant, after = "" }, limit) => (await db.read<DocColumn>(LIST, [tenant, after, limit])).map(keyOf),
    add: async (key) => {
      const values = [key.keyId, key.hash, key.tenant, key.expiresAt ?? null, JSON.stringify(key)];
      return (await db.write(ADD, values)).length === 1;
    },
    revoke: async ({ tenant, keyId }) => (await db.write(REVOKE, [keyId, tenant])).length === 1,
  };
}
