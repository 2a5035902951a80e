import { isObject } from "./changes.ts";
import type { JsonSchema } from "./prepare-schema.ts";

/** Turns every reference of a schema into a JSON pointer from its root, the only kind that the engine follows. */
export type PointerOf = (ref: string) => string;

export function pointersIn(root: JsonSchema): PointerOf {
  const anchors = new Map<string, string>();
  collect(root, "#", anchors);
  const base = typeof root.$id === "string" ? root.$id.replace(/#$/, "") : undefined;
  return (ref) => {
    const local = base !== undefined && ref.startsWith(`${base}#`) ? ref.slice(base.length) : ref === base ? "#" : ref;
    return anchors.get(local) ?? local;
  };
}

function collect(node: unknown, pointer: string, anchors: Map<string, string>): void {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    const isAnchor = (key === "$anchor" || key === "$dynamicAnchor") && typeof value === "string";
    if (isAnchor) anchors.set(`#${value}`, pointer);
    else collect(value, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, anchors);
  }
}

/** The schema with what its reference says. Keywords beside the reference win. */
export function resolved(schema: JsonSchema, root: JsonSchema, pointerOf: PointerOf): JsonSchema {
  let here = schema;
  for (let hops = 0; typeof here.$ref === "string" && hops < 20; hops++) {
    const { $ref, ...beside } = here as { $ref: string };
    here = { ...pointed(pointerOf($ref), root), ...beside };
  }
  return here;
}

function pointed(pointer: string, root: JsonSchema): JsonSchema {
  let here: unknown = root;
  for (const part of pointer.replace(/^#\/?/, "").split("/")) {
    if (part === "") continue;
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof here === "object" && here !== null && Object.hasOwn(here, name);
    here = isThere ? (here as JsonSchema)[name] : undefined;
  }
  return isObject(here) ? here : {};
}
