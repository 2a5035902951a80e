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
  /** Who has to fill it in, if restricted. */
  fill?: "human" | "agent";
  file?: true;
}

export interface Guide {
  /** Sorts paths in schema order; unknown ones come last. */
  order(paths: readonly string[]): string[];
  describe(path: string): FieldNote;
  /** Whether the schema defines this path. */
  knows(path: string): boolean;
  isSensitive(path: string): boolean;
  /** The dot-paths of all fields, except those inside lists. */
  names: readonly string[];
  /** The fields as shown to a model: nested, with what is required. */
  outline(): FieldOutline[];
}

export interface FieldOutline extends FieldNote {
  required?: true;
  /** Required for some values of other fields. */
  requiredIf?: true;
  /** The members of an object. */
  members?: FieldOutline[];
  /** The fields of each list item. */
  items?: FieldOutline[];
}

interface Entry {
  position: number;
  schema: Plain;
  fill?: "human" | "agent";
}

const MAX_WORDS = 200;
const guides = new WeakMap<object, Guide>();

/** Describes an intake's fields, once per schema. */
export function guideOf(schema: Record<string, unknown>): Guide {
  const known = guides.get(schema);
  if (known !== undefined) return known;
  const made = createGuide(schema);
  guides.set(schema, made);
  return made;
}

function createGuide(schema: SchemaNode): Guide {
  const entries = new Map<string, Entry>();
  const derived = deriveFields(schema, { forAgents: false });
  list(derived, { at: "", entries });
  const entryAt = (path: string) => entries.get(path) ?? entries.get(placeOf(path, entries));
  const position = (path: string) => entryAt(path)?.position ?? Number.MAX_SAFE_INTEGER;
  return {
    order: (paths) => paths.toSorted((one, other) => position(one) - position(other)),
    describe: (path) => noteOf(path, entryAt(path)),
    knows: (path) => entryAt(path) !== undefined,
    isSensitive: (path) => entryAt(path)?.schema["x-sensitive"] === true,
    names: [...entries.keys()].filter((path) => !path.includes("*")),
    outline: () => outlineOf(derived, { at: "", entries, left: { fields: MAX_OUTLINE } }),
  };
}

/** The path with `*` for the items of lists. A number may also be the name of a property. */
function placeOf(path: string, entries: ReadonlyMap<string, Entry>): string {
  return path.split(".").reduce((at, name) => {
    const named = `${at}.${name}`;
    return /^\d+$/.test(name) && !entries.has(named) ? `${at}.*` : named;
  });
}

/** For more fields, `verbose` returns the whole schema. */
const MAX_OUTLINE = 200;

interface Outlining {
  at: string;
  entries: Map<string, Entry>;
  left: { fields: number };
}

function outlineOf(schema: Plain, { at, entries, left }: Outlining): FieldOutline[] {
  const always = new Set(namesIn(schema["x-required"]));
  const sometimes = new Set(namesIn(schema["x-required-if"]));
  return Object.entries((schema.properties ?? {}) as Record<string, Plain>).flatMap(([name, member]) => {
    left.fields -= 1;
    if (left.fields < 0) return [];
    const path = at === "" ? name : `${at}.${name}`;
    const isFile = member["x-file"] !== undefined;
    const members = isFile ? [] : outlineOf(member, { at: path, entries, left });
    const items = isObject(member.items) && !isFile ? member.items : {};
    const inItems = outlineOf(items as Plain, { at: `${path}.*`, entries, left });
    return [
      {
        ...noteOf(path, entries.get(path)),
        ...(always.has(name) && { required: true as const }),
        ...(sometimes.has(name) && { requiredIf: true as const }),
        ...(members.length > 0 && { members }),
        ...(inItems.length > 0 && { items: inItems }),
      },
    ];
  });
}

/** The names in a mark. */
export const namesIn = (names: unknown): string[] => (Array.isArray(names) ? names.map(String) : []);

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

/** Text that only has to be recognized. */
export const cut = (words: string): string => (words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words);
