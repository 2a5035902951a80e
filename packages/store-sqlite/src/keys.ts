import type { Instant, Keys } from "@formbridge/core";
import { apiKeys, createKeyList, docOf, type SqlRunner } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { ReadCache } from "./read-cache.ts";
import { dialect, pick, prepare, sql } from "./sql.ts";

interface Sources {
  now: () => Instant;
  cache: ReadCache;
  runner: SqlRunner;
}

export function createKeys(db: Database, { now, cache, runner }: Sources): Keys {
  const keys = createKeyList(dialect, runner);
  const byHash = prepare(
    db,
    sql`SELECT ${pick(apiKeys, "k", "doc")} FROM ${apiKeys} AS k WHERE k.hash = unhex(?) AND NOT k.revoked`,
  );
  return {
    ...keys,
    find: (hash) =>
      answer(() => {
        const key = cache.get(`key ${hash}`, () => byHash.all(hash).map(docOf)[0]);
        return key?.expiresAt !== undefined && key.expiresAt <= now() ? undefined : key;
      }),
    add: (key) => keys.add(key).finally(cache.forget),
    revoke: (which) => keys.revoke(which).finally(cache.forget),
  };
}
