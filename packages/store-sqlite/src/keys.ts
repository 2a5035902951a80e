import type { ApiKey, Instant, Keys } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { ReadCache } from "./read-cache.ts";

const keyOf = (doc: string | undefined): ApiKey | undefined => (doc === undefined ? undefined : JSON.parse(doc));

export function createKeys(db: Database, now: () => Instant, cache: ReadCache): Keys {
  const byHash = db.prepare<[string], string>("SELECT doc FROM api_keys WHERE hash = ? AND revoked = 0").pluck();
  const byId = db
    .prepare<[string, string], string>("SELECT doc FROM api_keys WHERE key_id = ? AND tenant = ? AND revoked = 0")
    .pluck();
  const byTenant = db
    .prepare<[string, string, number], string>(
      "SELECT doc FROM api_keys WHERE tenant = ? AND key_id > ? AND revoked = 0 ORDER BY key_id LIMIT ?",
    )
    .pluck();
  const add = db.prepare(
    "INSERT OR IGNORE INTO api_keys (key_id, hash, tenant, expires_at, doc) VALUES (?, ?, ?, ?, ?)",
  );
  // The row stays, so that the same key can't be added again.
  const revoke = db.prepare("UPDATE api_keys SET revoked = 1 WHERE key_id = ? AND tenant = ? AND revoked = 0");
  return {
    find: (hash) =>
      answer(() => {
        const key = cache.get(`key ${hash}`, () => keyOf(byHash.get(hash)));
        return key?.expiresAt !== undefined && key.expiresAt <= now() ? undefined : key;
      }),
    get: ({ tenant, keyId }) => answer(() => keyOf(byId.get(keyId, tenant))),
    add: (key) =>
      answer(() => {
        cache.forget();
        return add.run(key.keyId, key.hash, key.tenant, key.expiresAt ?? null, JSON.stringify(key)).changes === 1;
      }),
    list: ({ tenant, after = "" }, limit) =>
      answer(() => byTenant.all(tenant, after, limit).map((doc) => JSON.parse(doc))),
    revoke: ({ tenant, keyId }) =>
      answer(() => {
        cache.forget();
        return revoke.run(keyId, tenant).changes === 1;
      }),
  };
}
