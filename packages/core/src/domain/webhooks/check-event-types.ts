import { EVENT_TYPES, type IntakeDefinition } from "@formbridge/contract";
import type { Problems } from "../intake/definition-problems.ts";

/** A typo in an event type would create a webhook that never receives anything. */
export function checkEventTypes({ eventWebhooks = [] }: IntakeDefinition, problems: Problems): void {
  for (const [index, { types = [] }] of eventWebhooks.entries()) {
    for (const [place, type] of types.entries()) {
      if (Object.hasOwn(EVENT_TYPES, type)) continue;
      problems.add(["eventWebhooks", String(index), "types", String(place)], "is not an event type");
    }
  }
}
