import { unnested } from "./arrays.ts";
import type { Statement } from "./database.ts";
import { RECORD_COLUMNS } from "./loaded-row.ts";
import { isTenant } from "./tenant.ts";

interface Question {
  name: string;
  /** What one is asked by; an idempotency key may come with it. */
  by: readonly string[];
  /** Finds one row; `tenant` and `intake_id` in it are the scope of the key. */
  find: string;
  /** Of that row. */
  columns: readonly string[];
}

/**
 * Many questions, each answered by a row, whatever there is: what was not found is NULL. One statement sees one moment of the
 * database: a submission and the record that was committed with it appear together.
 *
 * Plain SQL, since calling a function for each question costs more than the look-ups in it. Every look-up is a LATERAL of one row, so
 * that a plan made on empty tables is a good one on large ones, too.
 */
const load = ({ name, by, find, columns }: Question): Statement => ({
  name,
  text: `WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS now)
    SELECT q.place, clock.now, ${columns.map((column) => `found.${column}`).join(", ")}, row_to_json(record) AS record
    FROM clock, ${unnested(...[...by, "operation", "hash"].map((_, index) => `$${index + 1}::text[]`))}
        AS q (${by.join(", ")}, operation, hash, place)
      LEFT JOIN LATERAL (${find} LIMIT 1) AS found ON true
      LEFT JOIN LATERAL (
        SELECT ${RECORD_COLUMNS} FROM formbridge.records AS r
        WHERE q.hash IS NOT NULL AND r.tenant = found.tenant AND r.intake_id = found.intake_id
          AND r.operation = q.operation AND r.hash = q.hash AND (r.live_until IS NULL OR r.live_until > clock.now)
        LIMIT 1) AS record ON true`,
});

const SNAPSHOT = ["doc", "sealed_fields", "sealed_token"];
const OF_SUBMISSION = "s.tenant, s.intake_id, s.doc, s.sealed_fields, s.sealed_token";
const submissionOf = (row: string): string =>
  `formbridge.submissions AS s ON ${isTenant("s.tenant", `${row}.tenant`)} AND s.submission_id = ${row}.submission_id`;

/** A token is rotated when the one after it was issued. */
export const LOAD_BY_TOKEN = load({
  name: "load_by_token",
  by: ["token"],
  find: `SELECT ${OF_SUBMISSION}, t.submission_id AS token_submission_id, t.tenant AS token_tenant,
        t.intake_id AS token_intake_id, t.version AS token_version, t.epoch AS token_epoch, t.issued_at AS token_issued_at,
        t.expires_at AS token_expires_at, CASE WHEN t.version < s.version THEN
          (SELECT n.issued_at FROM formbridge.tokens AS n
            WHERE n.tenant = t.tenant AND n.submission_id = t.submission_id AND n.version > t.version
            ORDER BY n.version LIMIT 1) END AS token_rotated_at
      FROM formbridge.tokens AS t JOIN ${submissionOf("t")} WHERE t.hash = q.token`,
  columns: [
    ...SNAPSHOT,
    "token_submission_id",
    "token_tenant",
    "token_intake_id",
    "token_version",
    "token_epoch",
    "token_issued_at",
    "token_expires_at",
    "token_rotated_at",
  ],
});

export const LOAD_BY_ID = load({
  name: "load_by_id",
  by: ["tenant", "id"],
  find: `SELECT ${OF_SUBMISSION} FROM formbridge.submissions AS s WHERE ${isTenant("s.tenant", "q.tenant")} AND s.submission_id = q.id`,
  columns: SNAPSHOT,
});

export const LOAD_BY_SESSION = load({
  name: "load_by_session",
  by: ["session"],
  find: `SELECT ${OF_SUBMISSION}, h.doc AS handoff
      FROM formbridge.handoff_keys AS k
        JOIN formbridge.handoffs AS h
          ON h.tenant = k.tenant AND h.submission_id = k.submission_id AND h.handoff_id = k.handoff_id
        LEFT JOIN ${submissionOf("h")}
      WHERE k.hash = q.session`,
  columns: [...SNAPSHOT, "handoff"],
});

export const LOAD_BY_REVIEW_LINK = load({
  name: "load_by_review_link",
  by: ["link"],
  find: `SELECT ${OF_SUBMISSION}, l.doc AS link FROM formbridge.review_links AS l LEFT JOIN ${submissionOf("l")} WHERE l.hash = q.link`,
  columns: [...SNAPSHOT, "link"],
});

/** A retired intake has no definition any more; what was recorded under its keys is still there. */
export const LOAD_BY_INTAKE = load({
  name: "load_by_intake",
  by: ["intake"],
  find: `SELECT i.tenant, i.id AS intake_id, CASE WHEN NOT i.retired THEN i.digest END AS definition_digest,
        i.tenant AS definition_tenant
      FROM formbridge.intakes AS i WHERE i.id = q.intake`,
  columns: ["definition_digest", "definition_tenant"],
});
