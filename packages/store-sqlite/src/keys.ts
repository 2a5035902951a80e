import type { ApiKey, Instant, Keys } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";
import type { ReadCache } from "./read-cache.ts";

interface Sources {
  now: () => Instant;
  cache: ReadCache;
  call: CallWriter;
}

const keyOf = (doc: string | undefined): ApiKey | undefined => (doc === undefined ? undefined : JSON.parse(doc));

export function createKeys(db: Database, { now, cache, call }: Sources): Keys {
  const byHash = db.prepare<[string], string>("SELECT doc FROM api_keys WHERE hash = ? AND revoked = 0").pluck();
  const byId = db
    .prepare<[string, string], string>("SELECT doc FROM api_keys WHERE key_id = ? AND tenant = ? AND revoked = 0")
    .pluck();
  const byTenant = db
    .prepare<[string, string, number], string>(
      "SELECT doc FROM api_keys WHERE tenant = ? AND key_id > ? AND revoked = 0 ORDER BY key_id LIMIT ?",
    )
    .pluck();
  return {
    find: (hash) =>
      answer(() => {
        const key = cache.get(`key ${hash}`, () => keyOf(byHash.get(hash)));
        return key?.expiresAt !== undefined && key.expiresAt <= now() ? undefined : key;
      }),
    get: ({ tenant, keyId }) => answer(() => keyOf(byId.get(keyId, tenant))),
    add: (key) => {
      const { keyId, hash, tenant, expiresAt = null as number | null } = key;
      return call("addKey", [keyId, hash, tenant, expiresAt, JSON.stringify(key)]).finally(cache.forget);
    },
    list: ({ tenant, after = "" }, limit) =>
      answer(() => byTenant.all(tenant, after, limit).map((doc) => JSON.parse(doc))),
    revoke: ({ tenant, keyId }) => call("revokeKey", { tenant, keyId }).finally(cache.forget),
  };
}
