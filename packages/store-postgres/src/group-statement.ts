import { type AuditEvent, type ChainedEvent, type Change, endedAt, isEditable } from "@formbridge/core";
import { plainArray, unnested } from "./arrays.ts";
import { textAroundChain } from "./commit-arguments.ts";
import type { Statement } from "./database.ts";
import type { Value } from "./sized-query.ts";
import { isTenant } from "./tenant.ts";

type Cell = string | number | boolean | null;
type Column<From> =
  | readonly [name: string, type: "text", read: (from: From) => string | null]
  | readonly [name: string, type: "bigint" | "integer" | "boolean", read: (from: From) => number | boolean | null];

/** The database puts one without `seq` at the end of its chain. */
type Event = AuditEvent & Partial<Pick<ChainedEvent, "seq" | "prevHash" | "hash">>;

const revisedOf = ({ expect }: Change) => ("absent" in expect ? undefined : expect);
const jsonOf = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

const CHANGE_COLUMNS: readonly Column<Change>[] = [
  ["submission_id", "text", ({ row }) => row.submission.submissionId],
  ["tenant", "text", ({ tenant }) => tenant],
  ["expected_revision", "bigint", (change) => revisedOf(change)?.revision ?? null],
  ["not_after", "bigint", (change) => revisedOf(change)?.notAfter ?? null],
  ["intake_id", "text", ({ row }) => row.submission.intakeId],
  ["created_by", "text", ({ row }) => JSON.stringify(row.submission.createdBy.id)],
  ["created_at", "bigint", ({ row }) => row.submission.createdAt],
  ["state", "text", ({ row }) => row.submission.state],
  ["editable", "boolean", ({ row }) => isEditable(row.submission.state)],
  ["expires_at", "bigint", ({ row }) => row.submission.expiresAt],
  ["warn_at", "bigint", ({ row: { submission } }) => (isEditable(submission.state) ? submission.warnAt : null) ?? null],
  ["ended_at", "bigint", ({ row }) => endedAt(row.submission) ?? null],
  ["version", "bigint", ({ row }) => row.submission.version],
  ["revision", "bigint", ({ row }) => row.submission.revision],
  ["sealed_fields", "text", ({ row }) => row.sealedFields ?? null],
  ["doc", "text", ({ row }) => JSON.stringify(row.submission)],
  ["definition", "text", ({ row }) => row.submission.definition],
  ["token_hash", "text", ({ token }) => token?.hash ?? null],
  ["token_sealed", "text", ({ token }) => token?.sealed ?? null],
  ["token_epoch", "bigint", ({ token }) => token?.epoch ?? null],
  ["token_issued_at", "bigint", ({ token, row }) => (token === undefined ? null : row.submission.token.issuedAt)],
  ["token_expires_at", "bigint", ({ token }) => token?.expiresAt ?? null],
  ["audit_stream", "text", ({ audit: [event] }) => event?.stream ?? null],
  ["audit_before", "text", ({ audit: [event] }) => (event === undefined ? null : textAroundChain(event).before)],
  ["audit_after", "text", ({ audit: [event] }) => (event === undefined ? null : textAroundChain(event).after)],
];

const EVENT_COLUMNS: readonly Column<Event>[] = [
  ["event_id", "text", (event) => event.eventId],
  ["event_stream", "text", (event) => event.stream],
  ["event_seq", "bigint", (event) => event.seq ?? null],
  ["event_type", "text", (event) => event.type],
  ["event_ts", "text", (event) => event.ts],
  ["event_state", "text", (event) => event.state],
  ["event_version", "bigint", (event) => event.version],
  ["event_actor", "text", (event) => jsonOf(event.actor)],
  ["event_payload", "text", (event) => jsonOf(event.payload)],
  ["event_actor_salt", "text", (event) => event.actorSalt],
  ["event_actor_digest", "text", (event) => event.actorDigest],
  ["event_payload_salt", "text", (event) => event.payloadSalt],
  ["event_payload_digest", "text", (event) => event.payloadDigest],
  ["event_prev_hash", "text", (event) => event.prevHash ?? null],
  ["event_hash", "text", (event) => event.hash ?? null],
];

/** Of each event, the place of its change in the group, from 1. */
const PLACES = "event_place";
const CASTS = new Map(
  [...CHANGE_COLUMNS, ...EVENT_COLUMNS, [PLACES, "integer"] as const].map(([name, type], index) => [
    name,
    `$${index + 1}::${type}[]`,
  ]),
);

function whole(name: string): string {
  const cast = CASTS.get(name);
  if (cast === undefined) throw new TypeError(`no column ${name}`);
  return cast;
}
/** What a column says at a place. */
const at = (place: string, ...names: string[]): string => names.map((name) => `(${whole(name)})[${place}]`).join(", ");

const NO_HASH = "0".repeat(64);

/**
 * Changes that have a row, a token and events, and nothing else, as one statement: what PostgreSQL spends on beginning a statement
 * is many times what one more row costs. It writes those that it can write at once and answers their places; the others
 * did not happen, and are to come alone and be told why.
 *
 * - `ready`: new ones, and those whose row is as expected, in time, and free. Nobody waits, so the time does not pass either.
 *   With it come the ends of the chains, and the one event that is put there.
 * - `written`: never waits for a row, since it holds it. An id that is taken is left alone: who creates it has a revision that is
 *   no higher.
 * - `begun` is there before a position is drawn, which tells readers of the feed where this write began, see feed_horizon. Events
 *   are sorted: positions are in the order of the chains.
 *
 * Rows are looked up in a LATERAL each, so that a plan made on empty tables is a good one on large ones, too.
 */
export const COMMIT_GROUP: Statement = {
  name: "commit_group",
  text: `WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS at),
    ready AS MATERIALIZED (
      SELECT c.place, c.submission_id, ${at("c.place", "tenant")} AS tenant, ${at("c.place", "intake_id")} AS intake_id,
             head.sealed_token, head.token_seq, head.token_hash, head.idem_seq, head.idem_hash, audit.stream, audit.seq, audit.prev_hash,
             encode(sha256(convert_to(${at("c.place", "audit_before")} || audit.prev_hash || '","seq":' || audit.seq
               || ${at("c.place", "audit_after")}, 'UTF8')), 'hex') AS hash
        FROM clock, ${unnested(whole("submission_id"))} AS c (submission_id, place)
        LEFT JOIN LATERAL (
          SELECT s.sealed_token, s.token_seq, s.token_hash, s.idem_seq, s.idem_hash FROM formbridge.submissions AS s
           WHERE ${isTenant("s.tenant", at("c.place", "tenant"))} AND s.submission_id = c.submission_id
             AND s.revision = ${at("c.place", "expected_revision")} AND ${at("c.place", "expected_revision")} IS NOT NULL
             FOR NO KEY UPDATE SKIP LOCKED) AS held ON true
        CROSS JOIN LATERAL (
          SELECT held.sealed_token, coalesce(held.token_seq, 0) AS token_seq, coalesce(held.token_hash, '${NO_HASH}') AS token_hash,
                 coalesce(held.idem_seq, 0) AS idem_seq, coalesce(held.idem_hash, '${NO_HASH}') AS idem_hash) AS head
        CROSS JOIN LATERAL (
          SELECT a.stream, CASE a.stream WHEN 'token' THEN head.token_seq ELSE head.idem_seq END + 1 AS seq,
                 CASE a.stream WHEN 'token' THEN head.token_hash ELSE head.idem_hash END AS prev_hash
            FROM (SELECT ${at("c.place", "audit_stream")} AS stream) AS a) AS audit
       WHERE (${at("c.place", "expected_revision")} IS NULL OR held.token_seq IS NOT NULL)
         AND (${at("c.place", "not_after")} IS NULL OR clock.at <= ${at("c.place", "not_after")})),
    written AS (
      INSERT INTO formbridge.submissions AS s
        SELECT r.tenant, r.submission_id, r.intake_id,
               ${at("r.place", "created_by", "created_at", "state", "editable", "expires_at", "warn_at", "ended_at", "version", "revision")},
               CASE r.stream WHEN 'token' THEN r.seq ELSE r.token_seq END, CASE r.stream WHEN 'token' THEN r.hash ELSE r.token_hash END,
               CASE r.stream WHEN 'idempotency' THEN r.seq ELSE r.idem_seq END,
               CASE r.stream WHEN 'idempotency' THEN r.hash ELSE r.idem_hash END,
               coalesce(${at("r.place", "token_sealed")}, r.sealed_token), ${at("r.place", "sealed_fields", "doc", "definition")}
          FROM ready AS r
        ON CONFLICT (tenant, submission_id) DO UPDATE
          SET state = EXCLUDED.state, editable = EXCLUDED.editable, expires_at = EXCLUDED.expires_at, warn_at = EXCLUDED.warn_at,
              ended_at = EXCLUDED.ended_at, version = EXCLUDED.version, revision = EXCLUDED.revision,
              token_seq = EXCLUDED.token_seq, token_hash = EXCLUDED.token_hash,
              idem_seq = EXCLUDED.idem_seq, idem_hash = EXCLUDED.idem_hash,
              sealed_token = EXCLUDED.sealed_token, sealed_fields = EXCLUDED.sealed_fields, doc = EXCLUDED.doc
          WHERE s.revision < EXCLUDED.revision
        RETURNING s.submission_id),
    done AS MATERIALIZED (
      SELECT r.place, r.tenant, r.submission_id, r.intake_id, r.seq, r.prev_hash, r.hash
        FROM ready AS r JOIN written AS w ON w.submission_id = r.submission_id),
    token AS (
      INSERT INTO formbridge.tokens
        SELECT d.tenant, d.submission_id, ${at("d.place", "version", "token_hash")}, d.intake_id,
               ${at("d.place", "token_epoch", "token_issued_at", "token_expires_at")}
          FROM done AS d WHERE ${at("d.place", "token_hash")} IS NOT NULL),
    begun AS MATERIALIZED (
      SELECT pg_advisory_xact_lock_shared(formbridge.position_lock(formbridge.last_position()))),
    history AS (
      INSERT INTO formbridge.events (tenant, submission_id, intake_id, event_id, stream, seq, type, ts, state, version,
          actor, payload, actor_salt, actor_digest, payload_salt, payload_digest, prev_hash, hash)
        SELECT d.tenant, d.submission_id, d.intake_id, ${at("e.n", "event_id", "event_stream")},
               coalesce(${at("e.n", "event_seq")}, d.seq),
               ${at("e.n", "event_type", "event_ts", "event_state", "event_version", "event_actor", "event_payload", "event_actor_salt", "event_actor_digest", "event_payload_salt", "event_payload_digest")},
               coalesce(${at("e.n", "event_prev_hash")}, d.prev_hash), coalesce(${at("e.n", "event_hash")}, d.hash)
          FROM begun, ${unnested(whole(PLACES))} AS e (place, n) JOIN done AS d ON d.place = e.place
         ORDER BY e.n)
    SELECT d.place, clock.at FROM done AS d, clock`,
};

export interface GroupRow {
  cells: Cell[];
  events: Cell[][];
}

/** What a change says, made before it joins others: one that can't be said fails alone. */
export const groupRow = (change: Change): GroupRow => ({
  cells: CHANGE_COLUMNS.map(([, , read]) => read(change)),
  events: [...change.events, ...change.audit].map((event: Event) => EVENT_COLUMNS.map(([, , read]) => read(event))),
});

const arraysOf = <From>(columns: readonly Column<From>[], rows: readonly Cell[][]): Value[] =>
  columns.map(([, type], index) => {
    const cells = rows.map((row) => row[index] ?? null);
    return type === "text" ? (cells as (string | null)[]) : plainArray(cells);
  });

export const groupValues = (rows: readonly GroupRow[]): Value[] => [
  ...arraysOf(
    CHANGE_COLUMNS,
    rows.map(({ cells }) => cells),
  ),
  ...arraysOf(
    EVENT_COLUMNS,
    rows.flatMap(({ events }) => events),
  ),
  plainArray(rows.flatMap(({ events }, index) => events.map(() => index + 1))),
];
