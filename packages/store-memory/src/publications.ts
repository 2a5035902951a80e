import type { Change, Instant, Publication, PublicationFilter, PublicationPlace, Publications } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

/** Called in the commit, with its time. */
export function publish(tables: Tables, { tenant, row, publish: publishing }: Change, at: Instant): void {
  if (publishing === undefined) return;
  const { submissionId, intakeId } = row.submission;
  tables.publications.set(submissionId, { tenant, submissionId, intakeId, stampedAt: at, ...publishing });
}

export function createPublications(tables: Tables): Publications {
  const inOrder = (filter: PublicationFilter): Publication[] =>
    [...tables.publications.values()].filter((one) => matches(one, filter)).sort((a, b) => (isAfter(a, b) ? 1 : -1));
  return {
    // Commits are synchronous, so none is ever in flight.
    horizon: () => answer(tables, () => tables.now()),
    list: (filter, { limit, after, content }) =>
      answer(tables, () => {
        const page = inOrder(filter).filter((one) => after === undefined || isAfter(one, after));
        return page.slice(0, limit).map((one) => shown(one, content));
      }),
    count: (filter, atMost) => answer(tables, () => Math.min(atMost, inOrder(filter).length)),
    get: (submissionId) =>
      answer(tables, () => {
        const found = tables.publications.get(submissionId);
        return found && shown(found, true);
      }),
    earliest: () => answer(tables, () => inOrder({ until: Number.POSITIVE_INFINITY })[0]?.stampedAt),
    restamp: (intakeId, to, limit) =>
      answer(tables, () => {
        const from = to === "live" ? "withdrawn" : "live";
        const found = [...tables.publications.values()].filter(
          (one) => one.intakeId === intakeId && one.status === from,
        );
        for (const one of found.slice(0, limit)) Object.assign(one, { status: to, stampedAt: tables.now() });
        return Math.min(limit, found.length);
      }),
  };
}

const matches = ({ intakeId, stampedAt }: Publication, filter: PublicationFilter): boolean =>
  (filter.intakeId === undefined || intakeId === filter.intakeId) &&
  stampedAt >= (filter.from ?? 0) &&
  stampedAt < filter.until;

const isAfter = (one: PublicationPlace, other: PublicationPlace): boolean =>
  one.stampedAt === other.stampedAt ? one.submissionId > other.submissionId : one.stampedAt > other.stampedAt;

/** Its content is shown while it is live. */
const shown = ({ content, ...publication }: Publication, withContent: boolean): Publication =>
  withContent && publication.status === "live" && content !== undefined ? { ...publication, content } : publication;
