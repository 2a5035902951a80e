import type { Handoffs, ReviewLinks } from "@formbridge/core";
import { LAST_ID } from "./rows.ts";
import { createCount, type SqlDialect, type SqlRunner, statement } from "./sql.ts";
import { docOf } from "./table.ts";
import { handoffs, reviewLinks } from "./tables.ts";

export function createHandoffs(dialect: SqlDialect, runner: SqlRunner): Handoffs {
  const { sql, pick, among } = dialect;
  const { read, write } = runner;
  const DOC = pick(handoffs, "h", "doc");
  const OF_SUBMISSION = statement(
    "handoffs_of_submission",
    sql`SELECT ${DOC} FROM ${handoffs} AS h WHERE h.submission_id = $1 ORDER BY h.handoff_id DESC`,
  );
  const OF_TENANT = statement(
    "handoffs_of_tenant",
    sql`SELECT ${DOC} FROM ${handoffs} AS h WHERE h.tenant = $1 AND h.handoff_id < $2 ORDER BY h.handoff_id DESC LIMIT $3`,
  );
  const EXPIRED = sql`SELECT h.handoff_id FROM ${handoffs} AS h WHERE h.forget_after < $1 ORDER BY h.forget_after LIMIT $2`;
  const FORGET = statement(
    "forget_handoffs",
    sql`DELETE FROM ${handoffs} WHERE handoff_id ${among(EXPIRED.text)} RETURNING handoff_id`,
  );
  return {
    ofSubmission: async (submissionId) => (await read(OF_SUBMISSION, [submissionId])).map(docOf),
    list: async ({ tenant, before = LAST_ID }, limit) => (await read(OF_TENANT, [tenant, before, limit])).map(docOf),
    count: createCount(dialect, runner, { table: handoffs }),
    forgetExpired: async (before, limit) => (await write(FORGET, [before, limit])).length,
  };
}

export function createReviewLinks({ sql, among }: SqlDialect, { write }: SqlRunner): ReviewLinks {
  const EXPIRED = sql`SELECT l.link_id FROM ${reviewLinks} AS l WHERE l.forget_after < $1 ORDER BY l.forget_after LIMIT $2`;
  const FORGET = statement(
    "forget_review_links",
    sql`DELETE FROM ${reviewLinks} WHERE link_id ${among(EXPIRED.text)} RETURNING link_id`,
  );
  return { forgetExpired: async (before, limit) => (await write(FORGET, [before, limit])).length };
}
