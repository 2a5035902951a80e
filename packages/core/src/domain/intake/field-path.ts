import type { SchemaView } from "./schema-view.ts";

/**
 * Reads a dot-path. A property whose own name contains a dot wins over the path reading, if the schema declares it or
 * `present` says that it is there.
 */
export function readFieldPath(
  text: string,
  view: Pick<SchemaView, "declares">,
  present: (at: readonly string[]) => boolean = () => false,
): string[] {
  if (!text.includes(".")) return [text];
  const parts = text.split(".");
  const path: string[] = [];
  for (let from = 0; from < parts.length; ) {
    let to = parts.length;
    while (to > from + 1) {
      const literal = [...path, parts.slice(from, to).join(".")];
      if (present(literal) || view.declares(literal)) break;
      to--;
    }
    path.push(parts.slice(from, to).join("."));
    from = to;
  }
  // "a..b" names nothing by path, so it can only be a name.
  return path.includes("") ? [text] : path;
}
