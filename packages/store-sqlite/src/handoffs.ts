import type { Handoff, Handoffs } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";

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

export function createHandoffs(db: Database, call: CallWriter): Handoffs {
  const ofSubmission = db
    .prepare<[string], string>("SELECT doc FROM handoffs WHERE submission_id = ? ORDER BY handoff_id DESC")
    .pluck();
  return {
    ofSubmission: (submissionId) =>
      answer(() => ofSubmission.all(submissionId).map((doc) => JSON.parse(doc) as Handoff)),
    forgetExpired: (before, limit) => call("forgetHandoffs", before, limit),
  };
}
