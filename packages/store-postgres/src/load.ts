import type { Handoff, Loaded, ReviewLink } from "@formbridge/core";
import {
  computed,
  fromJson,
  handoffKeys,
  handoffs,
  intakes,
  type Json,
  optional,
  type Row,
  recordOf,
  records,
  reviewLinks,
  snapshotOf,
  submissions,
  type TokenWithOwner,
  tokenOf,
  tokens,
} from "@formbridge/store-sql";
import { pick, type Statement, sql, statement } from "./sql.ts";

/** What a load returns. A property is absent if that kind of load never has it. */
interface LoadedRow extends SnapshotColumns {
  place: number;
  now: number;
  record: Row<typeof records> | null;
  token?: TokenWithOwner | null;
  handoff?: Json<Handoff> | null;
  link?: Json<ReviewLink> | null;
  definition?: NonNullable<Loaded["definition"]> | null;
}

const SNAPSHOT = optional(pick(submissions, "s", "doc", "sealed_fields", "sealed_token"));
type SnapshotColumns = NonNullable<(typeof SNAPSHOT)["result"]>;

interface Entry {
  /** Columns of a question; an idempotency key may come with them. */
  by: readonly string[];
  /** Finds at most one row, with the id of the submission and, where it has one, the tenant. */
  find: string;
  hasTenant?: boolean;
  /** Further columns of the result. */
  found?: string;
  /** Where the key's tenant and intake come from. */
  keyScope?: "s" | "e";
}

/**
 * Answers many lookups with one row each, with NULL for what was not found. One statement reads one snapshot, so a submission and the
 * record that was committed with it appear together.
 *
 * Every lookup is a `LATERAL` of one row: a plan that PostgreSQL made while tables were empty, and keeps, reads no whole table later.
 * The tenant is compared outside of it, since indexes that begin with the tenant are for lists.
 */
const loadBy = (
  name: string,
  { by, find, found = "", hasTenant = true, keyScope = "s" }: Entry,
): Statement<LoadedRow> =>
  statement(
    name,
    sql`WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS now)
    SELECT ${computed<Pick<LoadedRow, "place" | "now" | "record">>("q.place, clock.now, row_to_json(record) AS record")},
           ${SNAPSHOT}${found}
      FROM clock, json_to_recordset($1) AS q (place integer, ${by.map((column) => `${column} text, `).join("")}operation text, key_hash text)
      LEFT JOIN LATERAL (${find} LIMIT 1) AS e ON true
      LEFT JOIN LATERAL (SELECT * FROM ${submissions} WHERE submission_id = e.submission_id LIMIT 1) AS s ON ${hasTenant ? "s.tenant = e.tenant" : "true"}
      LEFT JOIN LATERAL (
        SELECT r.* FROM ${records} AS r
         WHERE q.key_hash IS NOT NULL AND r.tenant = ${keyScope}.tenant AND r.intake_id = ${keyScope}.intake_id
           AND r.operation = q.operation AND r.hash = q.key_hash AND (r.live_until IS NULL OR r.live_until > clock.now)
         LIMIT 1) AS record ON true`,
  );

/** A token is rotated when the next version's token was issued. */
export const rotatedAt = (token: string): string =>
  sql`CASE WHEN ${token}.version < s.version THEN (
    SELECT n.issued_at FROM ${tokens} AS n WHERE n.submission_id = ${token}.submission_id AND n.version > ${token}.version
     ORDER BY n.version LIMIT 1) END AS rotated_at`.text;

export const LOAD_BY_ID = loadBy("load_by_id", {
  by: ["tenant", "id"],
  find: "SELECT q.tenant, q.id AS submission_id",
});

/** For a change that was not written: its key belongs to its intake, whether the submission exists or not. */
export const LOAD_FOR_CHANGE = loadBy("load_for_change", {
  by: ["tenant", "id", "intake"],
  find: "SELECT q.tenant, q.id AS submission_id, q.intake AS intake_id",
  keyScope: "e",
});

export const LOAD_BY_TOKEN = loadBy("load_by_token", {
  by: ["token"],
  find: sql`SELECT t.* FROM ${tokens} AS t WHERE t.hash = q.token`.text,
  hasTenant: false,
  found: `, CASE WHEN s.tenant IS NOT NULL THEN (
    SELECT row_to_json(t) FROM (SELECT e.*, s.tenant, s.intake_id, ${rotatedAt("e")}) AS t) END AS token`,
});

export const LOAD_BY_SESSION = loadBy("load_by_session", {
  by: ["session"],
  find: sql`SELECT h.tenant, h.submission_id, h.doc FROM ${handoffKeys} AS k JOIN ${handoffs} AS h ON h.handoff_id = k.handoff_id
     WHERE k.hash = q.session`.text,
  found: ", e.doc AS handoff",
});

export const LOAD_BY_REVIEW_LINK = loadBy("load_by_review_link", {
  by: ["link"],
  find: sql`SELECT l.tenant, l.submission_id, l.doc FROM ${reviewLinks} AS l WHERE l.hash = q.link`.text,
  found: ", e.doc AS link",
});

/** A retired intake has no definition, but responses recorded under its idempotency keys remain. */
export const LOAD_BY_INTAKE = loadBy("load_by_intake", {
  by: ["intake"],
  find: sql`SELECT i.tenant, i.id AS intake_id, NULL::text AS submission_id, i.digest, i.retired
      FROM ${intakes} AS i WHERE i.id = q.intake`.text,
  found: ", CASE WHEN NOT e.retired THEN json_build_object('digest', e.digest, 'tenant', e.tenant) END AS definition",
  keyScope: "e",
});

export function loadedOf(row: LoadedRow): Loaded {
  const { now, doc, sealed_fields, sealed_token, token, handoff, link, definition, record } = row;
  return {
    now,
    ...(doc !== null && sealed_token !== null && { submission: snapshotOf({ doc, sealed_fields, sealed_token }) }),
    ...(token && { presented: tokenOf(token) }),
    ...(handoff && { handoff: fromJson(handoff) }),
    ...(link && { link: fromJson(link) }),
    ...(definition && { definition }),
    ...(record && { record: recordOf(record) }),
  };
}
