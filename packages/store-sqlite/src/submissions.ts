import { SUBMISSION_STATES } from "@formbridge/contract";
import type { SubmissionFilter, Submissions } from "@formbridge/core";
import { submissionRowOf, submissions, toJson } from "@formbridge/store-sql";
import type { Database, Statement } from "better-sqlite3";
import { answer } from "./failures.ts";
import { pick, prepare, sql } from "./sql.ts";

/** Skips from tenant to tenant in the index, however many submissions each has. */
const TENANTS = `WITH RECURSIVE found (tenant) AS (
    SELECT min(tenant) FROM submissions
    UNION ALL
    SELECT (SELECT min(tenant) FROM submissions WHERE tenant > found.tenant) FROM found WHERE found.tenant IS NOT NULL)
  SELECT tenant FROM found WHERE tenant IS NOT NULL`;

const ROW = pick(submissions, "s", "doc", "sealed_fields");
type ListedRow = NonNullable<(typeof ROW)["result"]>;

/**
 * A filter of several values becomes one branch per value, each of which reads its index from the end and stops at the limit: a page
 * costs the same however many rows match.
 */
export function createSubmissions(db: Database): Submissions {
  const tenants = db.prepare<[], string>(TENANTS).pluck();
  const prepared = new Map<string, Statement<(string | number)[], ListedRow>>();
  function statement(found: string, order: string): Statement<(string | number)[], ListedRow> {
    const { text } = sql`SELECT ${ROW} FROM (${found}) AS f JOIN ${submissions} AS s ON s.sid = f.sid
      ORDER BY f.submission_id ${order} LIMIT ?`;
    const known = prepared.get(text) ?? prepare<ListedRow, (string | number)[]>(db, { text });
    prepared.set(text, known);
    return known;
  }
  const counts = new Map<string, Statement<(string | number)[], number>>();
  /** At most this many of each branch. */
  function counted(filter: SubmissionFilter, branches: readonly Condition[], atMost: number): number {
    if (branches.length === 0) return 0;
    const rest = conditionsOf(filter, {});
    const parts = branches.map(
      (branch) => `(SELECT count(*) FROM (SELECT 1 FROM submissions WHERE ${branch.sql} ${rest.sql} LIMIT ?))`,
    );
    const text = `SELECT ${parts.join(" + ")}`;
    const count = counts.get(text) ?? db.prepare<(string | number)[], number>(text).pluck();
    counts.set(text, count);
    return count.get(...branches.flatMap((branch) => [...branch.values, ...rest.values, atMost])) ?? 0;
  }

  return {
    list: (filter, page) =>
      answer(() => {
        if (filter.states?.length === 0 || filter.intakeIds?.length === 0) return [];
        const branches = branchesOf(filter);
        const rest = conditionsOf(filter, page);
        const order = page.after === undefined ? "DESC" : "ASC";
        const one = (branch: string) =>
          `SELECT * FROM (SELECT sid, submission_id FROM submissions WHERE ${branch} ${rest.sql} ORDER BY submission_id ${order} LIMIT ?)`;
        const found = branches.map((branch) => one(branch.sql)).join(" UNION ALL ");
        const values = branches.flatMap((branch) => [...branch.values, ...rest.values, page.limit]);
        return statement(found, order)
          .all(...values, page.limit)
          .map(submissionRowOf);
      }),
    count: (filter, atMost) =>
      answer(() => {
        const { expiredBefore, ...stored } = filter;
        if (filter.states === undefined || expiredBefore === undefined)
          return Math.min(atMost, counted(stored, branchesOf(stored), atMost));
        // Deadlines aren't in the index of states: subtract the few that are overdue, rather than read every row.
        const overdue = overdueIn(filter.tenant, expiredBefore);
        const hidden = counted(stored, [within(overdue, filter.states)], ALL);
        const found = counted(stored, branchesOf(stored), atMost + hidden) - hidden;
        const shown = filter.states.includes("expired") ? counted(stored, [overdue], atMost) : 0;
        return Math.min(atMost, found + shown);
      }),
    tenants: () => answer(() => tenants.all()),
  };
}

interface Position {
  before?: string;
  after?: string;
}

interface Condition {
  sql: string;
  values: (string | number)[];
}

/** SQLite limits the branches of a query. A filter with more values than this scans more rows instead. */
const MAX_BRANCHES = 20;

function branchesOf({ tenant, states, expiredBefore, intakeIds, createdById }: SubmissionFilter): Condition[] {
  const ofStates = (some: readonly string[]): Condition[] =>
    distinct(some).map((state) => ({ sql: "tenant = ? AND state = ?", values: [tenant, state] }));
  if (states !== undefined && expiredBefore === undefined) return ofStates(states);
  if (states !== undefined && expiredBefore !== undefined) {
    const intime = ofStates(states).map(({ sql, values }) => ({
      sql: `${sql} AND NOT (editable AND expires_at < ?)`,
      values: [...values, expiredBefore],
    }));
    // Usually few, because the sweep removes them: found by the index of deadlines, then sorted.
    const overdue = { sql: "tenant = ? AND editable AND expires_at < ?", values: [tenant, expiredBefore] };
    return states.includes("expired") ? [...intime, overdue] : intime;
  }
  if (intakeIds !== undefined && distinct(intakeIds).length <= MAX_BRANCHES) {
    return distinct(intakeIds).map((intakeId) => ({ sql: "tenant = ? AND intake_id = ?", values: [tenant, intakeId] }));
  }
  if (createdById !== undefined)
    return [{ sql: "tenant = ? AND created_by = ?", values: [tenant, toJson(createdById)] }];
  // All states are all submissions: no further index is needed.
  return ofStates(SUBMISSION_STATES);
}

/** As a LIMIT: no limit. */
const ALL = -1;

/** The plus keeps SQLite from using an index by tenant: few are overdue, and the index of deadlines finds them. */
const overdueIn = (tenant: string, before: number): Condition => ({
  sql: "+tenant = ? AND editable AND expires_at < ?",
  values: [tenant, before],
});
const within = ({ sql, values }: Condition, states: readonly string[]): Condition => ({
  sql: `${sql} AND +state IN (SELECT value FROM json_each(?))`,
  values: [...values, JSON.stringify(states)],
});

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

function conditionsOf(filter: SubmissionFilter, { before, after }: Position): Condition {
  const { states, intakeIds, createdById, from, until } = filter;
  const parts: { sql: string; value: string | number }[] = [];
  if (before !== undefined) parts.push({ sql: "AND submission_id < ?", value: before });
  if (after !== undefined) parts.push({ sql: "AND submission_id > ?", value: after });
  if (intakeIds !== undefined && (states !== undefined || distinct(intakeIds).length > MAX_BRANCHES)) {
    // The plus keeps SQLite from using the index by intake, which would lose the order.
    parts.push({ sql: "AND +intake_id IN (SELECT value FROM json_each(?))", value: JSON.stringify(intakeIds) });
  }
  if (createdById !== undefined) parts.push({ sql: "AND created_by = ?", value: toJson(createdById) });
  if (from !== undefined) parts.push({ sql: "AND created_at >= ?", value: from });
  if (until !== undefined) parts.push({ sql: "AND created_at < ?", value: until });
  return { sql: parts.map((part) => part.sql).join(" "), values: parts.map((part) => part.value) };
}
