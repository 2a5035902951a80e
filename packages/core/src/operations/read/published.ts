import type { Instant } from "../../domain/instant.ts";
import { isPublished, type PublishedContent, publishedContent } from "../../domain/publishing.ts";
import type { PublicationRow } from "../../ports/publications.ts";
import type { Context } from "../context.ts";

/** A published submission as shown to everyone. */
export interface PublishedRecord {
  submissionId: string;
  intakeId: string;
  stampedAt: Instant;
  /** It was erased, or its intake is no longer published. */
  isDeleted: boolean;
  /** If requested, and not deleted. */
  content?: PublishedContent;
}

const SECOND = 1000;

/**
 * The second before which the list of publications is complete. Records have a granularity of seconds, so the current
 * second may still get more.
 */
export async function harvestHorizon({ deps }: Context): Promise<Instant> {
  return Math.floor((await deps.backend.publications.horizon()) / SECOND) * SECOND;
}

/** When an intake is no longer published, its records disappear at once, before their tombstones are stamped. */
export async function showPublished(context: Context, rows: readonly PublicationRow[]): Promise<PublishedRecord[]> {
  const isOpen = new Map<string, boolean>();
  for (const intakeId of new Set(rows.map((row) => row.intakeId))) {
    const stored = await context.deps.backend.intakes.get(intakeId);
    isOpen.set(intakeId, stored !== undefined && isPublished(stored.definition));
  }
  const records: PublishedRecord[] = [];
  for (const publication of rows) {
    const { submissionId, intakeId, stampedAt, status } = publication;
    const isDeleted = status !== "live" || isOpen.get(intakeId) !== true;
    const content = isDeleted ? undefined : await contentOf(context, publication);
    records.push({ submissionId, intakeId, stampedAt, isDeleted, ...(content && { content }) });
  }
  return records;
}

async function contentOf({ catalog }: Context, { row }: PublicationRow): Promise<PublishedContent | undefined> {
  if (row?.submission.state !== "finalized") return undefined;
  return publishedContent(row.submission, await catalog.byDigest(row.submission.definition));
}
