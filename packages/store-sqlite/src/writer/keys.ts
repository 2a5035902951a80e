import type { Database } from "better-sqlite3";

export type KeyColumns = [keyId: string, hash: string, tenant: string, expiresAt: number | null, doc: string];

export function createKeyWriter(db: Database) {
  const add = db.prepare(
    "INSERT OR IGNORE INTO api_keys (key_id, hash, tenant, expires_at, doc) VALUES (?, ?, ?, ?, ?)",
  );
  // The row stays, so that the same key can't be added again.
  const revoke = db.prepare("UPDATE api_keys SET revoked = 1 WHERE key_id = ? AND tenant = ? AND revoked = 0");
  return {
    add: (key: KeyColumns): boolean => add.run(key).changes === 1,
    revoke: ({ tenant, keyId }: { tenant: string; keyId: string }): boolean => revoke.run(keyId, tenant).changes === 1,
  };
}
