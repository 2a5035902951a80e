import { SUBMISSION_STATES } from "@formbridge/contract";
import type { SubmissionFilter, SubmissionPage, SubmissionRow, Submissions } from "@formbridge/core";
import { computed, LAST_ID, submissionRowOf, submissions, toJson } from "@formbridge/store-sql";
import type { Database, Value } from "./database.ts";
import { pick, sql, statement } from "./sql.ts";

/** Conditions that any filter may add. */
const REST = `($5::text[] IS NULL OR c.intake_id || '' = ANY ($5)) AND ($6::text IS NULL OR c.created_by = $6)
           AND ($7::bigint IS NULL OR c.created_at >= $7) AND ($8::bigint IS NULL OR c.created_at < $8)`;

interface Direction {
  beyond: "<" | ">";
  bound: ">=" | "<=";
  order: "DESC" | "ASC";
}
const DESCENDING: Direction = { beyond: "<", bound: ">=", order: "DESC" };
const ASCENDING: Direction = { beyond: ">", bound: "<=", order: "ASC" };

interface Scanned {
  name: string;
  /** What a value is compared with; it is the second column of an index of the tenant. Absent: rows are few, and sorted. */
  column?: "state" | "intake_id" | "created_by";
  also?: string;
}

/**
 * A filter of several values becomes one scan per value, each of which follows its index from the page's position and stops at the
 * limit: a page costs the same however many rows match. With a plain equality the planner could follow the primary key instead, and
 * would read the whole table for a value that is rare; so the order names the column, and a range takes the place of the equality.
 */
function scan({ column, also = "true" }: Scanned, { beyond, bound, order }: Direction): string {
  // Of an expression there is no index to follow.
  const [chosen, places] = column
    ? [
        `c.${column} ${bound} value AND (c.${column}, c.submission_id) ${beyond} (value, $4)`,
        `c.${column} ${order}, c.submission_id ${order}`,
      ]
    : [`value IS NOT NULL AND c.submission_id || '' ${beyond} $4`, `c.submission_id || '' ${order}`];
  return `WHERE c.tenant = $1 AND ${chosen} AND ${also} AND ${REST} ORDER BY ${places} LIMIT $2`;
}

/** `$2` is the limit, `$3` has the values, `$4` is the position. */
const listBy = (scanned: Scanned, direction: Direction) =>
  statement(
    `list_submissions_${scanned.name}_${direction.order.toLowerCase()}`,
    sql`SELECT ${pick(submissions, "s", "doc", "sealed_fields")} FROM (
      SELECT f.submission_id FROM unnest($3::text[]) AS value CROSS JOIN LATERAL (
        SELECT c.submission_id FROM ${submissions} AS c ${scan(scanned, direction)}) AS f
       ORDER BY f.submission_id ${direction.order} LIMIT $2) AS page
      JOIN ${submissions} AS s ON s.submission_id = page.submission_id
     ORDER BY page.submission_id ${direction.order}`,
  );

/** Without a name: a plan for the given values skips the filters that aren't there, and reads the index alone. */
const countBy = (scanned: Scanned) =>
  statement(
    "",
    sql`SELECT ${computed<{ count: number }>("count(*)::int AS count")} FROM (
      SELECT 1 FROM unnest($3::text[]) AS value CROSS JOIN LATERAL (
        SELECT 1 FROM ${submissions} AS c ${scan(scanned, ASCENDING)}) AS f
       LIMIT $2) AS counted`,
  );

const scans = <Made>(make: (scanned: Scanned) => Made) => ({
  byState: make({ name: "by_state", column: "state" }),
  byStateInTime: make({
    name: "by_state_in_time",
    column: "state",
    also: "NOT (c.editable AND c.expires_at < $9)",
  }),
  overdue: make({ name: "overdue", also: "c.editable AND c.expires_at < $9" }),
  byIntake: make({ name: "by_intake", column: "intake_id" }),
  byCreator: make({ name: "by_creator", column: "created_by" }),
});
export const NEWEST_FIRST = scans((scanned) => listBy(scanned, DESCENDING));
export const OLDEST_FIRST = scans((scanned) => listBy(scanned, ASCENDING));
export const COUNTS = scans(countBy);

/** Skips from tenant to tenant in the index, however many submissions each has. */
const TENANTS = statement(
  "tenants",
  sql`WITH RECURSIVE found AS (
      SELECT min(tenant) AS tenant FROM ${submissions}
      UNION ALL
      SELECT (SELECT min(s.tenant) FROM ${submissions} AS s WHERE s.tenant > found.tenant)
        FROM found WHERE found.tenant IS NOT NULL)
    SELECT ${pick(submissions, "found", "tenant")} FROM found WHERE tenant IS NOT NULL`,
);

/** Sorts before every id. */
const FIRST_ID = "";

export function createSubmissions(db: Database): Submissions {
  return {
    list: async (filter, page) => {
      const pages = await Promise.all(scansOf(filter).map((scan) => pageOf(filter, page, scan)));
      const [only] = pages;
      return only !== undefined && pages.length === 1 ? only : merged(pages.flat(), page);
    },
    count: async (filter, atMost) => {
      const counts = await Promise.all(
        scansOf(filter).map(async (scan) => {
          const values = valuesFor(filter, scan, { limit: atMost, position: FIRST_ID });
          return (await db.read(COUNTS[scan.name], values))[0]?.count ?? 0;
        }),
      );
      return Math.min(
        atMost,
        counts.reduce((sum, count) => sum + count, 0),
      );
    },
    tenants: async () => (await db.read(TENANTS, [])).map(({ tenant }) => tenant),
  };

  async function pageOf(filter: SubmissionFilter, page: SubmissionPage, scan: Scan): Promise<SubmissionRow[]> {
    const list = (page.after === undefined ? NEWEST_FIRST : OLDEST_FIRST)[scan.name];
    const position = page.after ?? page.before ?? LAST_ID;
    const rows = await db.read(list, valuesFor(filter, scan, { limit: page.limit, position }));
    return rows.map(submissionRowOf);
  }
}

const valuesFor = (
  { tenant, createdById, from, until }: SubmissionFilter,
  scan: Scan,
  { limit, position }: { limit: number; position: string },
): Value[] => [
  tenant,
  limit,
  distinct(scan.values),
  position,
  scan.intakeIds ?? null,
  createdById === undefined ? null : toJson(createdById),
  from ?? null,
  until ?? null,
  ...(scan.expiredBefore === undefined ? [] : [scan.expiredBefore]),
];

/** Merges the pages of several scans in the same direction. */
function merged(rows: readonly SubmissionRow[], { after, limit }: SubmissionPage): SubmissionRow[] {
  const direction = after === undefined ? -1 : 1;
  const sorted = rows.toSorted((one, other) =>
    one.submission.submissionId < other.submission.submissionId ? -direction : direction,
  );
  return sorted.slice(0, limit);
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

interface Scan {
  name: keyof typeof NEWEST_FIRST;
  values: readonly string[];
  intakeIds?: readonly string[] | undefined;
  /** For scans that use deadlines. */
  expiredBefore?: number;
}

function scansOf({ states, expiredBefore, intakeIds, createdById }: SubmissionFilter): Scan[] {
  if (states !== undefined && expiredBefore !== undefined) {
    const inTime: Scan = { name: "byStateInTime", values: states, intakeIds, expiredBefore };
    // Usually few, because the sweep removes them.
    return states.includes("expired")
      ? [inTime, { name: "overdue", values: ["all"], intakeIds, expiredBefore }]
      : [inTime];
  }
  if (states !== undefined) return [{ name: "byState", values: states, intakeIds }];
  if (intakeIds !== undefined) return [{ name: "byIntake", values: intakeIds }];
  if (createdById !== undefined) return [{ name: "byCreator", values: [toJson(createdById)] }];
  // All states are all submissions: no further index is needed.
  return [{ name: "byState", values: SUBMISSION_STATES }];
}
