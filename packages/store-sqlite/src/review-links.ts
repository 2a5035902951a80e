import type { Hash, ReviewLink } from "@formbridge/core";
import { columnsOf, fromJson, reviewLinkRow, reviewLinks } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { pick, prepare, prepareInsert, sql } from "./sql.ts";

/** Writes a link whole; only inside a commit's transaction. */
export function createReviewLinkWriter(db: Database): (link: ReviewLink) => void {
  const put = prepareInsert(db, reviewLinks, {
    columns: columnsOf(reviewLinks),
    conflict:
      "ON CONFLICT (link_id) DO UPDATE SET hash = excluded.hash, forget_after = excluded.forget_after, doc = excluded.doc",
  });
  return (link) => void put(reviewLinkRow(link));
}

export function createReviewLinkFinder(db: Database): (hash: Hash) => ReviewLink | undefined {
  const find = prepare(
    db,
    sql`SELECT ${pick(reviewLinks, "l", "doc")} FROM ${reviewLinks} AS l WHERE l.hash = unhex(?)`,
  );
  return (hash) => {
    const found = find.get(hash);
    return found && fromJson(found.doc);
  };
}
