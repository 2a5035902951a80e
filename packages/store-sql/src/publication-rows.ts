import type { Change, Publication } from "@formbridge/core";
import { computed } from "./sql.ts";
import { fromJson, type Row, toJson } from "./table.ts";
import type { publications } from "./tables.ts";

export function publicationToWrite({
  tenant,
  row,
  publish,
}: Change): Omit<Row<typeof publications>, "stamped_at"> | undefined {
  const { submissionId, intakeId } = row.submission;
  if (publish === undefined) return undefined;
  const content = publish.status === "live" ? toJson(publish.content) : null;
  return { submission_id: submissionId, tenant, intake_id: intakeId, status: publish.status, content };
}

type PublishedColumn = Pick<Row<typeof publications>, "content">;
/** The content of a publication that the statement calls `p`, if it is live. */
export const liveContent = computed<PublishedColumn>("CASE WHEN p.status = 'live' THEN p.content END AS content");
export const noContent = computed<PublishedColumn>("NULL AS content");

export const publicationOf = (columns: Row<typeof publications>): Publication => ({
  tenant: columns.tenant,
  submissionId: columns.submission_id,
  intakeId: columns.intake_id,
  stampedAt: columns.stamped_at,
  status: columns.status,
  ...(columns.content !== null && { content: fromJson(columns.content) }),
});
