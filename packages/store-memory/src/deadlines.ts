import { type Deadlines, type Due, type Instant, isEditable, type Submission } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

const expiry = ({ expiresAt }: Submission): Instant => expiresAt;
const warning = ({ warnAt }: Submission): Instant => warnAt ?? Number.POSITIVE_INFINITY;

export function createDeadlines(tables: Tables): Deadlines {
  function due(deadline: (submission: Submission) => Instant, before: Instant, limit: number): Due[] {
    return [...tables.submissions.values()]
      .map(({ row }) => row.submission)
      .filter((submission) => isEditable(submission.state) && deadline(submission) < before)
      .sort((a, b) => deadline(a) - deadline(b))
      .slice(0, limit)
      .map(({ tenant, submissionId }) => ({ tenant, submissionId }));
  }
  return {
    now: () => answer(tables, () => tables.now()),
    expired: (before, limit) => answer(tables, () => due(expiry, before, limit)),
    warnable: (before, limit) => answer(tables, () => due(warning, before, limit)),
  };
}
