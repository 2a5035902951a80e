import { isEditable, type SubmissionFilter, type SubmissionRow, type Submissions } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export function createSubmissions(tables: Tables): Submissions {
  return {
    list: (filter, page) =>
      answer(tables, () => {
        const rows = [...tables.submissions.values()]
          .map(({ row }) => row)
          .filter((row) => matches(row, filter) && isBeyond(row.submission.submissionId, page))
          .sort((a, b) => (a.submission.submissionId < b.submission.submissionId ? -1 : 1));
        return (page.after === undefined ? rows.reverse() : rows).slice(0, page.limit);
      }),
    count: (filter, atMost) =>
      answer(tables, () => {
        const matching = [...tables.submissions.values()].filter(({ row }) => matches(row, filter));
        return Math.min(atMost, matching.length);
      }),
    tenants: () =>
      answer(tables, () => [...new Set([...tables.submissions.values()].map(({ tenant }) => tenant))].sort()),
  };
}

const isBeyond = (id: string, { before, after }: { before?: string; after?: string }): boolean =>
  (before === undefined || id < before) && (after === undefined || id > after);

function matches({ submission }: SubmissionRow, filter: SubmissionFilter): boolean {
  const { tenant, intakeIds, states, expiredBefore = 0, createdById, from, until } = filter;
  const isOverdue = isEditable(submission.state) && submission.expiresAt < expiredBefore;
  return (
    submission.tenant === tenant &&
    (intakeIds === undefined || intakeIds.includes(submission.intakeId)) &&
    (states === undefined || states.includes(isOverdue ? "expired" : submission.state)) &&
    (createdById === undefined || submission.createdBy.id === createdById) &&
    (from === undefined || submission.createdAt >= from) &&
    (until === undefined || submission.createdAt < until)
  );
}
