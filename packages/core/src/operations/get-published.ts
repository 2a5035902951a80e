import type { Instant } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { harvestHorizon, type PublishedRecord, showPublished } from "./read/published.ts";

/** One published submission; no record if it was never published, or isn't in the list yet. */
export async function getPublished(
  context: Context,
  call: { submissionId: string },
): Promise<{ horizon: Instant; record?: PublishedRecord }> {
  const horizon = await harvestHorizon(context);
  const found = await context.deps.backend.publications.get(call.submissionId);
  const [record] = found === undefined || found.stampedAt >= horizon ? [] : await showPublished(context, [found]);
  return { horizon, ...(record && { record }) };
}
