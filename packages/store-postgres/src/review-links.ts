import type { ReviewLinks } from "@formbridge/core";
import { reviewLinks } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { sql, statement } from "./sql.ts";

const FORGET = statement(
  "forget_review_links",
  sql`DELETE FROM ${reviewLinks} WHERE link_id = ANY (ARRAY(
      SELECT l.link_id FROM ${reviewLinks} AS l WHERE l.forget_after < $1
       ORDER BY l.forget_after LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING link_id`,
);

export const createReviewLinks = (db: Database): ReviewLinks => ({
  forgetExpired: async (before, limit) => (await db.write(FORGET, [before, limit])).length,
});
