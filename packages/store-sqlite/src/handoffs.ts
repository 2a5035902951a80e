import type { Handoff, Handoffs, Hash } from "@formbridge/core";
import { columnsOf, fromJson, handoffKeyRows, handoffKeys, handoffRow, handoffs, LAST_ID } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import { pick, prepare, prepareCount, prepareInsert, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

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

export function createHandoffs(db: Database, writer: Writer): Handoffs {
  const ofSubmission = prepare(
    db,
    sql`SELECT ${pick(handoffs, "h", "doc")} FROM ${handoffs} AS h WHERE h.submission_id = ? ORDER BY h.handoff_id DESC`,
  );
  const byTenant = prepare(
    db,
    sql`SELECT ${pick(handoffs, "h", "doc")} FROM ${handoffs} AS h WHERE h.tenant = ? AND h.handoff_id < ? ORDER BY h.handoff_id DESC LIMIT ?`,
  );
  const count = prepareCount(db, "handoffs");
  const forget = db.prepare(
    "DELETE FROM handoffs WHERE handoff_id IN (SELECT handoff_id FROM handoffs WHERE forget_after < ? ORDER BY forget_after LIMIT ?)",
  );
  return {
    ofSubmission: (submissionId) => answer(() => ofSubmission.all(submissionId).map(({ doc }) => fromJson(doc))),
    list: ({ tenant, before = LAST_ID }, limit) =>
      answer(() => byTenant.all(tenant, before, limit).map(({ doc }) => fromJson(doc))),
    count: ({ tenant }, atMost) => answer(() => count.get(tenant, atMost) ?? 0),
    forgetExpired: (before, limit) => writer.write(() => forget.run(before, limit).changes),
  };
}
