import type { Handoff, Hash } from "@formbridge/core";
import { columnsOf, fromJson, handoffKeyRows, handoffKeys, handoffRow, handoffs } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { pick, prepare, prepareInsert, sql } from "./sql.ts";

/** Writes a hand-off whole; only inside a commit's transaction. */
export function createHandoffWriter(db: Database): (handoff: Handoff) => void {
  const put = prepareInsert(db, handoffs, {
    columns: columnsOf(handoffs),
    conflict: "ON CONFLICT (handoff_id) DO UPDATE SET forget_after = excluded.forget_after, doc = excluded.doc",
  });
  const unlink = db.prepare("DELETE FROM handoff_keys WHERE handoff_id = ?");
  const link = prepareInsert(db, handoffKeys, { columns: columnsOf(handoffKeys) });
  return (handoff) => {
    put(handoffRow(handoff));
    unlink.run(handoff.handoffId);
    for (const row of handoffKeyRows(handoff)) link(row);
  };
}

/** By the hash of a link or session. */
export function createHandoffFinder(db: Database): (hash: Hash) => Handoff | undefined {
  const find = prepare(
    db,
    sql`SELECT ${pick(handoffs, "h", "doc")} FROM ${handoffKeys} AS k JOIN ${handoffs} AS h ON h.handoff_id = k.handoff_id
      WHERE k.hash = unhex(?)`,
  );
  return (hash) => {
    const found = find.get(hash);
    return found && fromJson(found.doc);
  };
}
