import type { Hash } from "../../domain/hashing.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
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
  const open = await openIntakes(
    context,
    rows.map(({ intakeId }) => intakeId),
  );
  const definitions = await definitionsOf(context, rows);
  return rows.map(({ submissionId, intakeId, stampedAt, status, row }) => {
    const isDeleted = status !== "live" || !open.has(intakeId);
    const submission = isDeleted ? undefined : row?.submission;
    const intake = submission && definitions.get(submission.definition);
    const content =
      submission?.state === "finalized" && intake !== undefined ? publishedContent(submission, intake) : undefined;
    return { submissionId, intakeId, stampedAt, isDeleted, ...(content && { content }) };
  });
}

/** Those that are published now. */
async function openIntakes({ deps }: Context, intakeIds: readonly string[]): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  for (const intakeId of new Set(intakeIds)) {
    const stored = await deps.backend.intakes.get(intakeId);
    if (stored !== undefined && isPublished(stored.definition)) open.add(intakeId);
  }
  return open;
}

/** What the submissions of a page were filled in by: few definitions, however many submissions. */
async function definitionsOf(
  { catalog }: Context,
  rows: readonly PublicationRow[],
): Promise<ReadonlyMap<Hash, CompiledIntake>> {
  const found = new Map<Hash, CompiledIntake>();
  for (const digest of new Set(rows.flatMap(({ row }) => (row === undefined ? [] : [row.submission.definition])))) {
    found.set(digest, await catalog.byDigest(digest));
  }
  return found;
}
