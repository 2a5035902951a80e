import type { Database } from "better-sqlite3";
import type { HandoffColumns } from "./flat-change.ts";

export function createHandoffWriter(db: Database) {
  const put = db.prepare(
    `INSERT INTO handoffs (handoff_id, submission_id, forget_after, doc) VALUES (?, ?, ?, ?)
     ON CONFLICT (handoff_id) DO UPDATE SET forget_after = excluded.forget_after, doc = excluded.doc`,
  );
  const unlink = db.prepare("DELETE FROM handoff_keys WHERE handoff_id = ?");
  const link = db.prepare("INSERT INTO handoff_keys (hash, handoff_id) VALUES (?, ?)");
  const forget = db.prepare(
    "DELETE FROM handoffs WHERE handoff_id IN (SELECT handoff_id FROM handoffs WHERE forget_after < ? ORDER BY forget_after LIMIT ?)",
  );
  return {
    put([handoffId, submissionId, forgetAfter, doc, hashes]: HandoffColumns): void {
      put.run(handoffId, submissionId, forgetAfter, doc);
      unlink.run(handoffId);
      for (const hash of JSON.parse(hashes) as string[]) link.run(hash, handoffId);
    },
    forgetExpired: (before: number, limit: number): number => forget.run(before, limit).changes,
  };
}
