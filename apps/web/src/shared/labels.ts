import type { ShownIntake } from "./intake-texts.ts";
import { itemOf, propertiesOf, resolved, type Schema } from "./schema.ts";

const INDEX = /^\d+$/;

/** What people call a field: the labels on the way to it, such as "Address › City". */
export function labelOf({ schema, uiHints }: Pick<ShownIntake, "schema" | "uiHints">, path: string): string {
  const root = schema as Schema;
  const names = path.split(".");
  const labels: string[] = [];
  let here: Schema | undefined = root;
  for (const [at, name] of names.entries()) {
    const properties: Record<string, Schema> = propertiesOf(here, root);
    if (INDEX.test(name) && !Object.hasOwn(properties, name)) {
      here = itemOf(here, Number(name), root);
      labels.push(`${labels.pop() ?? ""} ${Number(name) + 1}`.trim());
      continue;
    }
    here = Object.hasOwn(properties, name) ? resolved(properties[name], root) : undefined;
    const hint = uiHints?.fieldHints?.[names.slice(0, at + 1).join(".")]?.label;
    labels.push(hint ?? String(here?.title ?? name));
  }
  return labels.join(" › ");
}
