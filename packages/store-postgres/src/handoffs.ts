import type { Handoff, Handoffs } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";

const OF_SUBMISSION: Statement = {
  name: "handoffs_of_submission",
  text: "SELECT doc FROM formbridge.handoffs WHERE submission_id = $1 ORDER BY handoff_id DESC",
};
const FORGET: Statement = {
  name: "forget_handoffs",
  text: `WITH gone AS (
      DELETE FROM formbridge.handoffs WHERE (tenant, submission_id, handoff_id) IN (
        SELECT tenant, submission_id, handoff_id FROM formbridge.handoffs WHERE forget_after < $1
        ORDER BY forget_after LIMIT $2)
      RETURNING 1)
    SELECT count(*) AS gone FROM gone`,
};

export function createHandoffs(db: Database): Handoffs {
  return {
    ofSubmission: async (submissionId) => {
      const rows = await db.read<{ doc: string }>(OF_SUBMISSION, [submissionId]);
      return rows.map(({ doc }) => JSON.parse(doc) as Handoff);
    },
    forgetExpired: async (before, limit) => {
      const [row] = await db.write<{ gone: number }>(FORGET, [before, limit]);
      return row?.gone ?? 0;
    },
  };
}
