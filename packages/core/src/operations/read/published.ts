import type { Instant } from "../../domain/instant.ts";
import { isPublished, type Publication, type PublishedContent } from "../../domain/publishing.ts";
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
export async function showPublished(
  { deps }: Context,
  publications: readonly Publication[],
): Promise<PublishedRecord[]> {
  const isOpen = new Map<string, boolean>();
  for (const intakeId of new Set(publications.map((one) => one.intakeId))) {
    const stored = await deps.backend.intakes.get(intakeId);
    isOpen.set(intakeId, stored !== undefined && isPublished(stored.definition));
  }
  return publications.map(({ submissionId, intakeId, stampedAt, status, content }) => {
    const isDeleted = status !== "live" || isOpen.get(intakeId) !== true;
    return { submissionId, intakeId, stampedAt, isDeleted, ...(!isDeleted && content && { content }) };
  });
}
