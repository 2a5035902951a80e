import { type Change, endedAt, handoffsIn, type Instant, type KeyRef, reviewLinksIn } from "@formbridge/core";
import {
  type ColumnOf,
  columnsOf,
  computed,
  ERASED_RECORD,
  events,
  eventToWrite,
  handoffKeyRows,
  handoffKeys,
  handoffRow,
  handoffs,
  jobs,
  jobsToWrite,
  publications,
  publicationToWrite,
  records,
  recordToWrite,
  reviewLinkRow,
  reviewLinks,
  submissions,
  submissionToWrite,
  type Table,
  tokens,
  tokenToWrite,
} from "@formbridge/store-sql";
import { sql, statement } from "./sql.ts";

const some = <Value>(value: Value | undefined): Value[] => (value === undefined ? [] : [value]);
const idOf = ({ row }: Change) => ({ submission_id: row.submission.submissionId });

const keyRows = ({ tenant, row }: Change, keys: readonly KeyRef[] = []) =>
  keys.map(({ operation, hash }) => ({
    submission_id: row.submission.submissionId,
    tenant,
    intake_id: row.submission.intakeId,
    operation,
    hash,
  }));

/** What a change writes, part by part. A part that no change of a batch has is left out of the batch's statement. */
const PARTS = {
  submissions: (change: Change) => [submissionToWrite(change)],
  expectations: ({ expect, key }: Change) => [
    {
      expected_revision: "revision" in expect ? expect.revision : null,
      not_after: "revision" in expect ? expect.notAfter : null,
      key_operation: key?.ref.operation,
      key_hash: key?.ref.hash,
      replaces: key?.replaces,
    },
  ],
  records: (change: Change) => some(change.key).map((key) => recordToWrite(change, key)),
  tokens: (change: Change) => some(tokenToWrite(change)),
  events: (change: Change) => change.events.map((event) => eventToWrite(change, event)),
  /** Only an event of the submission's own stream ends it. */
  ended: (change: Change) =>
    endedAt(change.row.submission) !== undefined && change.events.some(({ stream }) => stream === "submission")
      ? [idOf(change)]
      : [],
  handoffs: ({ side }: Change) => handoffsIn(side).map(handoffRow),
  handoffKeys: ({ side }: Change) => handoffsIn(side).flatMap(handoffKeyRows),
  reviewLinks: ({ side }: Change) => reviewLinksIn(side).map(reviewLinkRow),
  jobs: (change: Change) => jobsToWrite(change),
  /** Adding a job replaces one with the same key, so that one needn't be dropped. */
  droppedJobs: (change: Change) =>
    change.dropJobs
      .filter((dropped) => !change.jobs.some(({ key }) => key === dropped))
      .map((key) => ({ ...idOf(change), tenant: change.tenant, key })),
  droppedKeys: (change: Change) => keyRows(change, change.dropKeys),
  droppedLiveKeys: (change: Change) => keyRows(change, change.dropLiveKeys),
  erased: (change: Change) => (change.erase === true || change.redact !== undefined ? [idOf(change)] : []),
  erasedWhole: (change: Change) => (change.erase === true ? [idOf(change)] : []),
  redacted: (change: Change) => (change.redact ?? []).map((event) => eventToWrite(change, event)),
  publications: (change: Change) => some(publicationToWrite(change)),
} satisfies Record<string, (change: Change) => readonly object[]>;

type Part = keyof typeof PARTS;
const ALL_PARTS = Object.keys(PARTS) as Part[];

/** The rows of a change as JSON texts, by part. */
export type WrittenChange = Readonly<Record<Part, readonly string[]>>;

export function writtenOf(change: Change): WrittenChange {
  const written = (part: Part): string[] => PARTS[part](change).map((row) => JSON.stringify(row));
  return Object.fromEntries(ALL_PARTS.map((part) => [part, written(part)])) as Record<Part, string[]>;
}

type Expressions<T extends Table> = Partial<Record<ColumnOf<T>, string>>;

/** The columns of a table, read from `row` or computed here. */
const valuesOf = <T extends Table>(table: T, row: string, computedHere: Expressions<T> = {}): string =>
  columnsOf(table)
    .map((name) => computedHere[name] ?? `${row}.${name}`)
    .join(", ");
const replaced = <T extends Table, Left extends ColumnOf<T>>(table: T, ...without: Left[]): string =>
  columnsOf(table, ...without)
    .map((name) => `${name} = EXCLUDED.${name}`)
    .join(", ");
const rowsOf = ({ name }: Table, parameter: string): string =>
  `json_populate_recordset(NULL::formbridge.${name}, ${parameter})`;

const OF_WRITTEN = "ANY (ARRAY(SELECT w.submission_id FROM written AS w))";

/** The common table expressions of each part, after the row itself was written. `p` names the parameter with its rows. */
const AFTER_ROW: Record<Exclude<Part, "submissions" | "expectations" | "records">, (p: string) => string> = {
  tokens: (p) => `
    token AS (
      INSERT INTO formbridge.tokens (${columnsOf(tokens).join(", ")})
      SELECT ${valuesOf(tokens, "t")} FROM ${rowsOf(tokens, p)} AS t WHERE t.submission_id = ${OF_WRITTEN})`,
  events: (p) => `
    -- Before positions are assigned: shows readers of the feed where this write began, see feed_horizon.
    begun AS MATERIALIZED (
      SELECT pg_advisory_xact_lock_shared(formbridge.position_lock(formbridge.last_position()))),
    history AS (
      INSERT INTO formbridge.events (${columnsOf(events, "position").join(", ")})
      SELECT ${columnsOf(events, "position").join(", ")}
        FROM begun, ${rowsOf(events, p)} WITH ORDINALITY AS e
       WHERE e.submission_id = ${OF_WRITTEN} ORDER BY e.ordinality)`,
  // Skips the record that this statement writes: it already has its expiry.
  ended: (p) => `
    ended AS (
      UPDATE formbridge.records AS r
         SET live_until = greatest(r.expires_at, r.keep_after_end_ms + (
               SELECT w.ended_at FROM written AS w WHERE w.submission_id = r.submission_id))
       WHERE r.submission_id = ANY (ARRAY(
               SELECT e.submission_id FROM ${rowsOf(submissions, p)} AS e WHERE e.submission_id = ${OF_WRITTEN}))
         AND r.live_until IS NULL
         AND NOT EXISTS (SELECT 1 FROM ready AS n
               WHERE n.submission_id = r.submission_id AND n.key_hash = r.hash AND n.key_operation = r.operation))`,
  handoffs: (p) => `
    handoff AS (
      INSERT INTO formbridge.handoffs (${columnsOf(handoffs).join(", ")})
      SELECT ${valuesOf(handoffs, "h")} FROM ${rowsOf(handoffs, p)} AS h WHERE h.submission_id = ${OF_WRITTEN}
      ON CONFLICT (handoff_id) DO UPDATE SET ${replaced(handoffs, "handoff_id")}
      RETURNING handoff_id)`,
  handoffKeys: (p) => `
    handoff_key AS (
      INSERT INTO formbridge.handoff_keys (${columnsOf(handoffKeys).join(", ")})
      SELECT ${valuesOf(handoffKeys, "k")} FROM ${rowsOf(handoffKeys, p)} AS k
       WHERE k.handoff_id = ANY (ARRAY(SELECT h.handoff_id FROM handoff AS h))
      ON CONFLICT (hash) DO NOTHING),
    closed_key AS (
      DELETE FROM formbridge.handoff_keys AS k
       WHERE k.handoff_id = ANY (ARRAY(SELECT h.handoff_id FROM handoff AS h))
         AND k.hash <> ALL (ARRAY(SELECT n.hash FROM ${rowsOf(handoffKeys, p)} AS n)))`,
  reviewLinks: (p) => `
    review_link AS (
      INSERT INTO formbridge.review_links (${columnsOf(reviewLinks).join(", ")})
      SELECT ${valuesOf(reviewLinks, "l")} FROM ${rowsOf(reviewLinks, p)} AS l WHERE l.submission_id = ${OF_WRITTEN}
      ON CONFLICT (link_id) DO UPDATE SET ${replaced(reviewLinks, "link_id")})`,
  jobs: (p) => `
    job AS (
      INSERT INTO formbridge.jobs (${columnsOf(jobs).join(", ")})
      SELECT ${valuesOf(jobs, "j")} FROM ${rowsOf(jobs, p)} AS j WHERE j.submission_id = ${OF_WRITTEN}
      ON CONFLICT (key, tenant) DO UPDATE SET ${replaced(jobs, "key", "tenant")})`,
  droppedJobs: (p) => `
    dropped AS MATERIALIZED (
      SELECT d.tenant, d.key FROM ${rowsOf(jobs, p)} AS d WHERE d.submission_id = ${OF_WRITTEN}),
    dropped_job AS (
      DELETE FROM formbridge.jobs AS j WHERE j.key = ANY (ARRAY(SELECT d.key FROM dropped AS d))
         AND EXISTS (SELECT 1 FROM dropped AS d WHERE d.key = j.key AND d.tenant = j.tenant))`,
  droppedKeys: (p) => `
    dropped_key AS (${droppingKeys(p)} AND r.live_until <= clock.at)`,
  droppedLiveKeys: (p) => `
    dropped_live_key AS (${droppingKeys(p)})`,
  erased: (p) => `
    ${erasing(p, "records", "UPDATE", `SET ${ERASED_COLUMNS}`)},
    ${erasing(p, "handoffs", "DELETE FROM")},
    ${erasing(p, "review_links", "DELETE FROM")}`,
  // A statement doesn't see what it inserts, so the events of the erasure itself keep their payloads.
  erasedWhole: (p) => `
    ${erasing(p, "events", "UPDATE", "SET actor = NULL, actor_salt = NULL, payload = NULL, payload_salt = NULL")},
    ${erasing(p, "tokens", "DELETE FROM")}`,
  redacted: (p) => `
    redacted AS (
      UPDATE formbridge.events AS o
         SET actor = r.actor, actor_salt = r.actor_salt, payload = r.payload, payload_salt = r.payload_salt
        FROM ${rowsOf(events, p)} AS r
       WHERE o.submission_id = r.submission_id AND o.event_id = r.event_id AND r.submission_id = ${OF_WRITTEN})`,
  publications: (p) => `
    publication AS (
      INSERT INTO formbridge.publications (${columnsOf(publications).join(", ")})
      SELECT ${valuesOf(publications, "p", { stamped_at: "clock.at" })}
        FROM clock, ${rowsOf(publications, p)} AS p WHERE p.submission_id = ${OF_WRITTEN}
      ON CONFLICT (submission_id) DO UPDATE SET ${replaced(publications, "submission_id", "tenant", "intake_id")})`,
};

function droppingKeys(p: string): string {
  return `
      DELETE FROM formbridge.records AS r USING clock, ${rowsOf(records, p)} AS k
       WHERE r.tenant = k.tenant AND r.intake_id = k.intake_id AND r.operation = k.operation AND r.hash = k.hash
         AND r.submission_id = k.submission_id AND k.submission_id = ${OF_WRITTEN}`;
}

const ERASED_COLUMNS = Object.entries(ERASED_RECORD)
  .map(([name, value]) => `${name} = ${value === null ? "NULL" : `'${value}'`}`)
  .join(", ");

function erasing(p: string, table: string, ...[verb, set = ""]: ["UPDATE", string] | ["DELETE FROM", string?]): string {
  return `erased_${table} AS (
      ${verb} formbridge.${table} AS o ${set} WHERE o.submission_id = ANY (ARRAY(
        SELECT e.submission_id FROM ${rowsOf(submissions, p)} AS e WHERE e.submission_id = ${OF_WRITTEN})))`;
}

/**
 * Records are written before the row, in key order, so that two batches never deadlock: the second one with a key waits for the first,
 * finds a live record, and doesn't write its change.
 */
const recording = (p: string): string => `
    recorded AS (
      INSERT INTO formbridge.records AS r (${columnsOf(records).join(", ")})
      SELECT ${valuesOf(records, "k", { recorded_at: "clock.at" })}
        FROM clock, ${rowsOf(records, p)} AS k
       WHERE k.submission_id = ANY (ARRAY(SELECT n.submission_id FROM ready AS n))
       ORDER BY k.hash, k.operation, k.intake_id, k.tenant
      ON CONFLICT (tenant, intake_id, operation, hash) DO UPDATE
        SET ${replaced(records, "tenant", "intake_id", "operation", "hash")}
        WHERE r.live_until <= EXCLUDED.recorded_at
           OR r.fingerprint = (SELECT n.replaces FROM ready AS n WHERE n.submission_id = EXCLUDED.submission_id)
      RETURNING r.submission_id),`;

/** The deadline may have passed while waiting for a key. */
const RECORDED_IN_TIME = `
       WHERE n.key_hash IS NULL OR (n.submission_id IN (SELECT k.submission_id FROM recorded AS k)
         AND (n.not_after IS NULL OR formbridge.now_ms() <= n.not_after))`;

/** If a record was written without its change, roll back; the caller then retries the changes one by one. */
const RECORDS_HAVE_CHANGES = `
     WHERE CASE WHEN EXISTS (SELECT 1 FROM recorded AS k WHERE k.submission_id NOT IN (SELECT w.submission_id FROM written AS w))
                THEN formbridge.undo() ELSE true END`;

/**
 * Commits a batch: one statement, one transaction. It writes the changes that can be written now and returns their ids. The
 * others leave no trace, and the caller finds out why.
 *
 * - `ready`: changes that create, and changes whose row is at the expected revision, in time and not locked by another transaction.
 * - `written`: the rows. A create whose id is taken is skipped, because the stored revision isn't lower.
 * - Everything else is written for the changes in `written`.
 *
 * Rows are found by their own key inside a `LATERAL` or through an array: a plan that PostgreSQL made while tables were empty, and keeps,
 * reads no whole table later.
 */
function commitText(parts: readonly Part[]) {
  const parameter = (part: Part): string => `$${parts.indexOf(part) + 1}`;
  const hasRecords = parts.includes("records");
  const after = parts.flatMap((part) =>
    part in AFTER_ROW ? [AFTER_ROW[part as keyof typeof AFTER_ROW](parameter(part))] : [],
  );
  return sql`
    WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS at),
    ready AS MATERIALIZED (
      SELECT n.*, held.sealed_token AS held_token
        FROM clock, ROWS FROM (
               ${rowsOf(submissions, parameter("submissions"))},
               json_to_recordset(${parameter("expectations")})
                 AS (expected_revision bigint, not_after bigint, key_operation text, key_hash text, replaces text)) AS n
        LEFT JOIN LATERAL (
          SELECT s.tenant, s.sealed_token FROM ${submissions} AS s
           WHERE s.submission_id = n.submission_id AND s.revision = n.expected_revision
             FOR NO KEY UPDATE SKIP LOCKED) AS held ON true
       WHERE (n.expected_revision IS NULL OR held.tenant = n.tenant) AND (n.not_after IS NULL OR clock.at <= n.not_after)),
    ${hasRecords ? recording(parameter("records")) : ""}
    written AS (
      INSERT INTO ${submissions} AS s (${columnsOf(submissions).join(", ")})
      SELECT ${valuesOf(submissions, "n", { sealed_token: "coalesce(n.sealed_token, n.held_token)" })}
        FROM ready AS n ${hasRecords ? RECORDED_IN_TIME : ""}
      ON CONFLICT (submission_id) DO UPDATE SET ${replaced(submissions, "submission_id", "tenant")}
        WHERE s.tenant = EXCLUDED.tenant AND s.revision < EXCLUDED.revision
      RETURNING s.submission_id, s.ended_at)${after.map((part) => `,${part}`).join("")}
    SELECT ${computed<{ submission_id: string | null; at: Instant }>("w.submission_id, clock.at")}
      FROM clock LEFT JOIN written AS w ON true ${hasRecords ? RECORDS_HAVE_CHANGES : ""}`;
}

const prepared = new Map<string, ReturnType<typeof prepare>>();
const prepare = (name: string, parts: readonly Part[]) => statement(name, commitText(parts));

/** The statement for a batch, and its values. */
export function commitBatch(batch: readonly WrittenChange[]): { commit: ReturnType<typeof prepare>; values: string[] } {
  const parts = ALL_PARTS.filter((part) => batch.some((change) => change[part].length > 0));
  const name = `commit_${ALL_PARTS.map((part) => (parts.includes(part) ? 1 : 0)).join("")}`;
  const commit = prepared.get(name) ?? prepare(name, parts);
  prepared.set(name, commit);
  return { commit, values: parts.map((part) => `[${batch.flatMap((change) => change[part]).join(",")}]`) };
}
