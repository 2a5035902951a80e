import type { Hash } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { EventOwner } from "./events.ts";
import type { FlatChange } from "./flat-change.ts";

/** By the indexed bits of a token's hash, and by all the others. */
export const headAndHash = (hash: Hash): [head: number, hash: Hash] => [Number.parseInt(hash.slice(0, 13), 16), hash];

export function createTokenWriter(db: Database) {
  const insert = db.prepare(
    `INSERT INTO tokens (sid, version, head, hash, tenant, epoch, issued_at, expires_at) VALUES (?, ?, ?, unhex(?), ?, ?, ?, ?)`,
  );
  const forget = db.prepare(
    `DELETE FROM tokens WHERE (sid, version) IN (
       SELECT t.sid, t.version FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid
       WHERE t.expires_at < ? AND (t.version < s.version OR s.ended_at IS NOT NULL) ORDER BY t.expires_at LIMIT ?)`,
  );
  return {
    issue({ sid, tenant }: EventOwner, { version, token }: FlatChange): void {
      if (token === undefined) return;
      const { hash, epoch, issuedAt, expiresAt } = token;
      insert.run(sid, version, ...headAndHash(hash), tenant, epoch, issuedAt, expiresAt);
    },
    forgetExpired: (before: number, limit: number): number => forget.run(before, limit).changes,
  };
}
