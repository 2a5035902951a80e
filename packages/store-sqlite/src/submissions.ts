import { SUBMISSION_STATES } from "@formbridge/contract";
import type { SubmissionFilter, Submissions } from "@formbridge/core";
import type { Database, Statement } from "better-sqlite3";
import { answer } from "./failures.ts";
import { rowOf } from "./submission-rows.ts";

type ListColumns = [doc: string, sealedFields: string | null];

/**
 * A filter of several values becomes one branch per value, each of which walks its index from its end and stops at the
 * limit: a page costs the same however many rows match.
 */
export function createSubmissions(db: Database): Submissions {
  const prepared = new Map<string, Statement<unknown[], ListColumns>>();
  function statement(sql: string): Statement<unknown[], ListColumns> {
    const known = prepared.get(sql) ?? db.prepare<unknown[], ListColumns>(sql).raw();
    prepared.set(sql, known);
    return known;
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
        const sql = `SELECT s.doc, s.sealed_fields FROM (${found}) AS f JOIN submissions AS s ON s.sid = f.sid
          ORDER BY f.submission_id ${order} LIMIT ?`;
        const values = branches.flatMap((branch) => [...branch.values, ...rest.values, page.limit]);
        return statement(sql)
          .all(...values, page.limit)
          .map(([doc, sealedFields]) => rowOf(doc, sealedFields));
      }),
  };
}

interface Position {
  before?: string;
  after?: string;
}

interface Condition {
  sql: string;
  values: unknown[];
}

/** A filter with more values than this looks through more rows instead: SQLite bounds how many branches a query has. */
const MAX_BRANCHES = 20;

function branchesOf({ tenant, states, intakeIds, createdById }: SubmissionFilter): Condition[] {
  const ofStates = (some: readonly string[]) =>
    distinct(some).map((state) => ({ sql: "tenant = ? AND state = ?", values: [tenant, state] }));
  if (states !== undefined) return ofStates(states);
  if (intakeIds !== undefined && distinct(intakeIds).length <= MAX_BRANCHES) {
    return distinct(intakeIds).map((intakeId) => ({ sql: "tenant = ? AND intake_id = ?", values: [tenant, intakeId] }));
  }
  if (createdById !== undefined) return [{ sql: "tenant = ? AND created_by_id = ?", values: [tenant, createdById] }];
  // All states are all submissions: no further index is needed.
  return ofStates(SUBMISSION_STATES);
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

function conditionsOf(filter: SubmissionFilter, { before, after }: Position): Condition {
  const { states, intakeIds, createdById, from, until } = filter;
  const parts: { sql: string; value: unknown }[] = [];
  if (before !== undefined) parts.push({ sql: "AND submission_id < ?", value: before });
  if (after !== undefined) parts.push({ sql: "AND submission_id > ?", value: after });
  if (intakeIds !== undefined && (states !== undefined || distinct(intakeIds).length > MAX_BRANCHES)) {
    // The plus keeps this condition from choosing the index, which would lose the order.
    parts.push({ sql: "AND +intake_id IN (SELECT value FROM json_each(?))", value: JSON.stringify(intakeIds) });
  }
  if (createdById !== undefined) parts.push({ sql: "AND created_by_id = ?", value: createdById });
  if (from !== undefined) parts.push({ sql: "AND created_at >= ?", value: from });
  if (until !== undefined) parts.push({ sql: "AND created_at < ?", value: until });
  return { sql: parts.map((part) => part.sql).join(" "), values: parts.map((part) => part.value) };
}
