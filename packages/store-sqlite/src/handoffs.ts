import { type Handoff, type Handoffs, handoffHashes } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

/** Writes hand-offs for a commit; only inside its transaction. */
export function createHandoffWriter(db: Database): (handoff: Handoff) => void {
  const put = db.prepare(
    `INSERT INTO handoffs (handoff_id, submission_id, forget_after, doc) VALUES (?, ?, ?, ?)
     ON CONFLICT (handoff_id) DO UPDATE SET forget_after = excluded.forget_after, doc = excluded.doc`,
  );
  const unlink = db.prepare("DELETE FROM handoff_keys WHERE handoff_id = ?");
  const link = db.prepare("INSERT INTO handoff_keys (hash, handoff_id) VALUES (?, ?)");
  return (handoff) => {
    const { handoffId, submissionId, forgetAfter } = handoff;
    put.run(handoffId, submissionId, forgetAfter, JSON.stringify(handoff));
    unlink.run(handoffId);
    for (const hash of handoffHashes(handoff)) link.run(hash, handoffId);
  };
}

/** By the hash of a link or session. */
export function createHandoffFinder(db: Database): (hash: string) => Handoff | undefined {
  const find = db
    .prepare<[string], string>(
      "SELECT h.doc FROM handoff_keys AS k JOIN handoffs AS h ON h.handoff_id = k.handoff_id WHERE k.hash = ?",
    )
    .pluck();
  return (hash) => {
    const doc = find.get(hash);
    return doc === undefined ? undefined : (JSON.parse(doc) as Handoff);
  };
}

export function createHandoffs(db: Database): Handoffs {
  const ofSubmission = db
    .prepare<[string], string>("SELECT doc FROM handoffs WHERE submission_id = ? ORDER BY handoff_id DESC")
    .pluck();
  const forget = db.prepare(
    "DELETE FROM handoffs WHERE handoff_id IN (SELECT handoff_id FROM handoffs WHERE forget_after < ? ORDER BY forget_after LIMIT ?)",
  );
  return {
    ofSubmission: (submissionId) =>
      answer(() => ofSubmission.all(submissionId).map((doc) => JSON.parse(doc) as Handoff)),
    forgetExpired: (before, limit) => answer(() => forget.run(before, limit).changes),
  };
}
