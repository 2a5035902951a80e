import type { SubmissionFilter, SubmissionRow, Submissions } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export function createSubmissions(tables: Tables): Submissions {
  return {
    list: (filter, { before, limit }) =>
      answer(tables, () =>
        [...tables.submissions.values()]
          .map(({ row }) => row)
          .filter((row) => matches(row, filter) && (before === undefined || row.submission.submissionId < before))
          .sort((a, b) => (a.submission.submissionId > b.submission.submissionId ? -1 : 1))
          .slice(0, limit),
      ),
  };
}

function matches({ submission }: SubmissionRow, filter: SubmissionFilter): boolean {
  const { tenant, intakeIds, states, createdById, from, until } = filter;
  return (
    submission.tenant === tenant &&
    (intakeIds === undefined || intakeIds.includes(submission.intakeId)) &&
    (states === undefined || states.includes(submission.state)) &&
    (createdById === undefined || submission.createdBy.id === createdById) &&
    (from === undefined || submission.createdAt >= from) &&
    (until === undefined || submission.createdAt < until)
  );
}
