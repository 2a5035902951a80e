import type { Instant, Keys } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

export function createKeys(db: Database, now: () => Instant): Keys {
  const byHash = db
    .prepare<[string, number], string>(
      "SELECT doc FROM api_keys WHERE hash = ? AND revoked = 0 AND (expires_at IS NULL OR expires_at > ?)",
    )
    .pluck();
  const byTenant = db
    .prepare<[string, string, number], string>(
      "SELECT doc FROM api_keys WHERE tenant = ? AND key_id > ? AND revoked = 0 ORDER BY key_id LIMIT ?",
    )
    .pluck();
  const add = db.prepare(
    "INSERT OR IGNORE INTO api_keys (key_id, hash, tenant, expires_at, doc) VALUES (?, ?, ?, ?, ?)",
  );
  // The row stays: a preset key that was revoked must not come back with the next start.
  const revoke = db.prepare("UPDATE api_keys SET revoked = 1 WHERE key_id = ? AND tenant = ? AND revoked = 0");
  return {
    find: (hash) =>
      answer(() => {
        const doc = byHash.get(hash, now());
        return doc === undefined ? undefined : JSON.parse(doc);
      }),
    add: (key) =>
      answer(() => add.run(key.keyId, key.hash, key.tenant, key.expiresAt ?? null, JSON.stringify(key)).changes === 1),
    list: ({ tenant, after = "" }, limit) =>
      answer(() => byTenant.all(tenant, after, limit).map((doc) => JSON.parse(doc))),
    revoke: ({ tenant, keyId }) => answer(() => revoke.run(keyId, tenant).changes === 1),
  };
}
