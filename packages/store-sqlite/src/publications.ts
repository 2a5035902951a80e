import type { Change, Instant, PublicationFilter, PublicationPlace, Publications } from "@formbridge/core";
import {
  columnsOf,
  liveContent,
  noContent,
  publicationOf,
  publications,
  publicationToWrite,
  type Row,
} from "@formbridge/store-sql";
import type { Database, Statement } from "better-sqlite3";
import { answer } from "./failures.ts";
import { pick, prepare, prepareInsert, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** Only inside a commit's transaction, whose time is the stamp. */
export function createPublicationWriter(db: Database): (change: Change, at: Instant) => void {
  const put = prepareInsert(db, publications, {
    columns: columnsOf(publications),
    conflict:
      "ON CONFLICT (submission_id) DO UPDATE SET stamped_at = excluded.stamped_at, status = excluded.status, content = excluded.content",
  });
  return (change, at) => {
    const row = publicationToWrite(change);
    if (row !== undefined) put({ ...row, stamped_at: at });
  };
}

type Columns = Row<typeof publications>;
const STAMP = pick(publications, "p", ...columnsOf(publications, "content"));

export function createPublications(
  db: Database,
  { now, writer }: { now: () => Instant; writer: Writer },
): Publications {
  const prepared = new Map<string, Statement<unknown[], Columns>>();
  function statement(text: string): Statement<unknown[], Columns> {
    const known = prepared.get(text) ?? db.prepare<unknown[], Columns>(text);
    prepared.set(text, known);
    return known;
  }
  const earliest = db.prepare<[], number | null>(sql`SELECT min(stamped_at) FROM ${publications}`.text).pluck();
  const get = prepare(db, sql`SELECT ${STAMP}, ${liveContent} FROM ${publications} AS p WHERE p.submission_id = ?`);
  const restamp = db.prepare(
    `UPDATE publications SET status = ?, stamped_at = ? WHERE submission_id IN (
       SELECT submission_id FROM publications WHERE intake_id = ? AND status = ? LIMIT ?)`,
  );
  return {
    // A transaction reads the clock and commits synchronously, so no read happens in between.
    horizon: () => answer(now),
    list: (filter, { limit, after, content }) =>
      answer(() => {
        const { conditions, values } = conditionsOf(filter, after);
        const { text } = sql`SELECT ${STAMP}, ${content ? liveContent : noContent} FROM ${publications} AS p
          WHERE ${conditions} ORDER BY stamped_at, submission_id LIMIT ?`;
        return statement(text)
          .all(...values, limit)
          .map(publicationOf);
      }),
    count: (filter, atMost) =>
      answer(() => {
        const { conditions, values } = conditionsOf(filter);
        const text = `SELECT count(*) FROM (SELECT 1 FROM publications WHERE ${conditions} LIMIT ?)`;
        return (
          db
            .prepare<unknown[], number>(text)
            .pluck()
            .get(...values, atMost) ?? 0
        );
      }),
    get: (submissionId) =>
      answer(() => {
        const found = get.get(submissionId);
        return found && publicationOf(found);
      }),
    earliest: () => answer(() => earliest.get() ?? undefined),
    restamp: (intakeId, to, limit) =>
      writer.write((at) => restamp.run(to, at, intakeId, to === "live" ? "withdrawn" : "live", limit).changes),
  };
}

function conditionsOf({ intakeId, from, until }: PublicationFilter, after?: PublicationPlace) {
  const parts: [condition: string, ...values: unknown[]][] = [["stamped_at < ?", until]];
  if (intakeId !== undefined) parts.push(["intake_id = ?", intakeId]);
  if (after !== undefined) {
    parts.push(["(stamped_at, submission_id) > (?, ?)", after.stampedAt, after.submissionId]);
  } else if (from !== undefined) parts.push(["stamped_at >= ?", from]);
  const conditions = parts.map(([condition]) => condition).join(" AND ");
  return { conditions, values: parts.flatMap(([, ...values]) => values) };
}
