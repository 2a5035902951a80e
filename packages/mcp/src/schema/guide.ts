import { isObject, type SchemaNode } from "@formbridge/core";
import { deriveFields, type Plain } from "./derive.ts";

/** What a model needs to know to ask for a value. */
export interface FieldNote {
  path: string;
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  format?: string;
  /** Who fills it, when not anybody may. */
  fill?: "human" | "agent";
  file?: true;
}

export interface Guide {
  /** In the order of the schema; what it does not know comes last. */
  order(paths: readonly string[]): string[];
  describe(path: string): FieldNote;
}

interface Entry {
  position: number;
  schema: Plain;
  fill?: "human" | "agent";
}

const MAX_WORDS = 200;
const guides = new WeakMap<object, Guide>();

/** The fields of an intake in words, made once for each schema. */
export function guideOf(schema: Record<string, unknown>): Guide {
  const known = guides.get(schema);
  if (known !== undefined) return known;
  const made = createGuide(schema);
  guides.set(schema, made);
  return made;
}

function createGuide(schema: SchemaNode): Guide {
  const entries = new Map<string, Entry>();
  list(deriveFields(schema, { forAgents: false }), { at: "", entries });
  const entryAt = (path: string) => entries.get(path.replaceAll(/(?<=\.)\d+(?=\.|$)/g, "*"));
  const position = (path: string) => entryAt(path)?.position ?? Number.MAX_SAFE_INTEGER;
  return {
    order: (paths) => paths.toSorted((one, other) => position(one) - position(other)),
    describe: (path) => noteOf(path, entryAt(path)),
  };
}

interface Listing {
  at: string;
  entries: Map<string, Entry>;
  fill?: "human" | "agent";
}

function list(schema: Plain, { at, entries, fill }: Listing): void {
  for (const [name, member] of Object.entries((schema.properties ?? {}) as Record<string, Plain>)) {
    const path = at === "" ? name : `${at}.${name}`;
    const own = member["x-fill"] === "human" || member["x-fill"] === "agent" ? member["x-fill"] : fill;
    entries.set(path, { position: entries.size, schema: member, ...(own && { fill: own }) });
    list(member, { at: path, entries, ...(own && { fill: own }) });
  }
  if (isObject(schema.items)) {
    const path = `${at}.*`;
    entries.set(path, { position: entries.size, schema: schema.items as Plain, ...(fill && { fill }) });
    list(schema.items as Plain, { at: path, entries, ...(fill && { fill }) });
  }
}

function noteOf(path: string, entry: Entry | undefined): FieldNote {
  if (entry === undefined) return { path };
  const { schema, fill } = entry;
  const { title, description, format, enum: values } = schema;
  const type =
    typeof schema.type === "string" ? schema.type : Array.isArray(schema.type) ? schema.type.join(" or ") : "";
  const isFile = schema["x-file"] !== undefined;
  return {
    path,
    ...(isFile ? { type: "file" } : type !== "" && { type }),
    ...(typeof title === "string" && { title: cut(title) }),
    ...(typeof description === "string" && !isFile && { description: cut(description) }),
    ...(Array.isArray(values) && { enum: values.slice(0, 20) }),
    ...(typeof format === "string" && { format }),
    ...(fill && { fill }),
    ...(isFile && { file: true as const }),
  };
}

const cut = (words: string): string => (words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words);
