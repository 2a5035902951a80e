import type { Instant } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { harvestHorizon } from "./read/published.ts";

/** The range of the list of published submissions. No record is older than `earliest`. */
export async function describePublished(context: Context): Promise<{ horizon: Instant; earliest: Instant }> {
  const horizon = await harvestHorizon(context);
  const earliest = (await context.deps.backend.publications.earliest()) ?? horizon;
  return { horizon, earliest: Math.min(earliest, horizon) };
}
