import type { SchemaView } from "./schema-view.ts";

/**
 * Parses a dot-path. A property whose own name contains a dot takes precedence, if the schema declares it or `present`
 * says that it exists.
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
  // "a..b" isn't a valid path, so it can only be a name.
  return path.includes("") ? [text] : path;
}

/** Longer ones aren't searched for names with dots. */
const MAX_PATH = 2048;

/** Parses a dot-path using the declared names that contain a dot; most schemas have none. */
export function readDeclaredPath(
  text: string,
  dotted: readonly string[],
  declares: (at: readonly string[]) => boolean,
): string[] {
  if (dotted.length === 0 || text.length > MAX_PATH) return text.split(".");
  const path: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const next = text.indexOf(".", from);
    const literal = dotted
      .filter((name) => text.startsWith(name, from) && (text[from + name.length] ?? ".") === ".")
      .sort((one, other) => other.length - one.length)
      .find((name) => declares([...path, name]));
    const name = literal ?? text.slice(from, next === -1 ? text.length : next);
    path.push(name);
    from += name.length + 1;
  }
  return path;
}
