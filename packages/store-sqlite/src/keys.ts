import type { ApiKey, Instant, Keys } from "@formbridge/core";
import { apiKeyRow, apiKeys, columnsOf, fromJson, type Json } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { ReadCache } from "./read-cache.ts";
import { pick, prepare, prepareCount, prepareInsert, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

interface Sources {
  now: () => Instant;
  cache: ReadCache;
  writer: Writer;
}

const SELECT = sql`SELECT ${pick(apiKeys, "k", "doc")} FROM ${apiKeys} AS k WHERE k.revoked = 0`;
const keyOf = (row: { doc: Json<ApiKey> } | undefined): ApiKey | undefined => row && fromJson(row.doc);

export function createKeys(db: Database, { now, cache, writer }: Sources): Keys {
  const byHash = prepare(db, { ...SELECT, text: `${SELECT.text} AND k.hash = unhex(?)` });
  const byId = prepare(db, { ...SELECT, text: `${SELECT.text} AND k.key_id = ? AND k.tenant = ?` });
  const byTenant = prepare(db, {
    ...SELECT,
    text: `${SELECT.text} AND k.tenant = ? AND k.key_id > ? ORDER BY k.key_id LIMIT ?`,
  });
  const add = prepareInsert(db, apiKeys, { columns: columnsOf(apiKeys), verb: "INSERT OR IGNORE" });
  // The row stays without its names, so that the same key can't be added again.
  const revoke = db.prepare(
    "UPDATE api_keys SET revoked = 1, doc = '{}' WHERE key_id = ? AND tenant = ? AND revoked = 0",
  );
  const count = prepareCount(db, "api_keys", "revoked = 0");
  return {
    find: (hash) =>
      answer(() => {
        const key = cache.get(`key ${hash}`, () => keyOf(byHash.get(hash)));
        return key?.expiresAt !== undefined && key.expiresAt <= now() ? undefined : key;
      }),
    get: ({ tenant, keyId }) => answer(() => keyOf(byId.get(keyId, tenant))),
    add: (key) => writer.write(() => add(apiKeyRow(key)).changes === 1).finally(cache.forget),
    list: ({ tenant, after = "" }, limit) =>
      answer(() => byTenant.all(tenant, after, limit).map(({ doc }) => fromJson(doc))),
    count: ({ tenant }, atMost) => answer(() => count.get(tenant, atMost) ?? 0),
    revoke: ({ tenant, keyId }) => writer.write(() => revoke.run(keyId, tenant).changes === 1).finally(cache.forget),
  };
}
