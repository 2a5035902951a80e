import type { Instant } from "../domain/instant.ts";
import { isPublished } from "../domain/publishing.ts";
import type { Context } from "./context.ts";
import { everyIntake } from "./read/every-intake.ts";
import { harvestHorizon } from "./read/published.ts";

/** The published intakes of all tenants. */
export async function listPublishedSets(
  context: Context,
): Promise<{ horizon: Instant; sets: { intakeId: string; name: string }[] }> {
  const horizon = await harvestHorizon(context);
  const sets: { intakeId: string; name: string }[] = [];
  for await (const { definition } of everyIntake(context)) {
    if (isPublished(definition)) sets.push({ intakeId: definition.id, name: definition.name });
  }
  return { horizon, sets };
}
