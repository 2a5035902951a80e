import type { Keys } from "@formbridge/core";
import { apiKeys, computed, createKeyList, docOf } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { gatherQuestions } from "./gathered.ts";
import { dialect, pick, sql, statement } from "./sql.ts";

const FIND = statement(
  "find_key",
  sql`SELECT ${computed<{ place: number }>("q.place")}, ${pick(apiKeys, "k", "doc")}
    FROM json_to_recordset($1) AS q (place integer, hash text)
    CROSS JOIN LATERAL (
      SELECT doc FROM ${apiKeys} WHERE hash = q.hash AND NOT revoked
         AND (expires_at IS NULL OR expires_at > formbridge.now_ms()) LIMIT 1) AS k`,
);

export function createKeys(db: Database): Keys {
  const ask = gatherQuestions(db, FIND);
  return {
    ...createKeyList(dialect, db),
    find: async (hash) => {
      const found = await ask({ hash });
      return found && docOf(found);
    },
  };
}
