import type { Handoffs } from "@formbridge/core";
import { fromJson, handoffs, LAST_ID } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { countOfTenant, pick, sql, statement } from "./sql.ts";

const OF_SUBMISSION = statement(
  "handoffs_of_submission",
  sql`SELECT ${pick(handoffs, "h", "doc")} FROM ${handoffs} AS h WHERE h.submission_id = $1 ORDER BY h.handoff_id DESC`,
);
const OF_TENANT = statement(
  "handoffs_of_tenant",
  sql`SELECT ${pick(handoffs, "h", "doc")} FROM ${handoffs} AS h WHERE h.tenant = $1 AND h.handoff_id < $2 ORDER BY h.handoff_id DESC LIMIT $3`,
);
const COUNT = countOfTenant(handoffs);
const FORGET = statement(
  "forget_handoffs",
  sql`DELETE FROM ${handoffs} WHERE handoff_id = ANY (ARRAY(
      SELECT h.handoff_id FROM ${handoffs} AS h WHERE h.forget_after < $1
       ORDER BY h.forget_after LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING handoff_id`,
);

export const createHandoffs = (db: Database): Handoffs => ({
  ofSubmission: async (submissionId) => (await db.read(OF_SUBMISSION, [submissionId])).map(({ doc }) => fromJson(doc)),
  list: async ({ tenant, before = LAST_ID }, limit) =>
    (await db.read(OF_TENANT, [tenant, before, limit])).map(({ doc }) => fromJson(doc)),
  count: async ({ tenant }, atMost) => (await db.read(COUNT, [tenant, atMost]))[0]?.count ?? 0,
  forgetExpired: async (before, limit) => (await db.write(FORGET, [before, limit])).length,
});
