import type { SubmissionFilter, Submissions } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import { rowOf } from "./loaded-row.ts";
import type { Value } from "./sized-query.ts";

/**
 * A filter of several values becomes one walk per value, each of which goes along its index from its end and stops at the limit: a
 * page costs the same however many rows match. `$3` names the values, of which there is one when nothing is chosen.
 */
const listBy = (name: string, chosen: string, { beyond, order }: Direction): Statement => ({
  name: `list_submissions_${name}_${order.toLowerCase()}`,
  text: `SELECT s.doc, s.sealed_fields FROM (
      SELECT f.submission_id FROM unnest($3::text[]) AS value CROSS JOIN LATERAL (
        SELECT c.submission_id FROM formbridge.submissions AS c
        WHERE c.tenant = $1 AND ${chosen} AND c.submission_id ${beyond} $4
          AND ($5::text[] IS NULL OR c.intake_id || '' = ANY ($5)) AND ($6::text IS NULL OR c.created_by = $6)
          AND ($7::bigint IS NULL OR c.created_at >= $7) AND ($8::bigint IS NULL OR c.created_at < $8)
        ORDER BY c.submission_id ${order} LIMIT $2) AS f
      ORDER BY f.submission_id ${order} LIMIT $2) AS page
    JOIN formbridge.submissions AS s ON s.tenant = $1 AND s.submission_id = page.submission_id
    ORDER BY page.submission_id ${order}`,
});

interface Direction {
  beyond: "<" | ">";
  order: "DESC" | "ASC";
}
const walks = (direction: Direction) => ({
  byTenant: listBy("by_tenant", "value IS NOT NULL", direction),
  byState: listBy("by_state", "c.state = value", direction),
  byIntake: listBy("by_intake", "c.intake_id = value", direction),
});
const NEWEST_FIRST = walks({ beyond: "<", order: "DESC" });
const OLDEST_FIRST = walks({ beyond: ">", order: "ASC" });

/** Sorts after every id. */
const LAST_ID = "\u{10ffff}";

export function createSubmissions(db: Database): Submissions {
  return {
    list: async (filter, page) => {
      const { walk, values, intakeIds } = walkOf(filter);
      const { tenant, createdById, from, until } = filter;
      const statement = (page.after === undefined ? NEWEST_FIRST : OLDEST_FIRST)[walk];
      const rows = await db.read<{ doc: string; sealed_fields: string | null }>(statement, [
        tenant,
        page.limit,
        distinct(values),
        page.after ?? page.before ?? LAST_ID,
        intakeIds ?? null,
        createdById === undefined ? null : JSON.stringify(createdById),
        from ?? null,
        until ?? null,
      ] satisfies Value[]);
      return rows.map(({ doc, sealed_fields }) => rowOf(doc, sealed_fields));
    },
  };
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];

function walkOf({ states, intakeIds }: SubmissionFilter) {
  if (states !== undefined) return { walk: "byState", values: states, intakeIds } as const;
  if (intakeIds !== undefined) return { walk: "byIntake", values: intakeIds } as const;
  return { walk: "byTenant", values: ["all"] } as const;
}
