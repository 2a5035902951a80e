import { type FieldHint, isObject, type Json, type JsonObject } from "./wire.ts";

/** How a value is asked for. `json` is for what no plain control can show. */
export type FieldKind = "text" | "number" | "boolean" | "choice" | "object" | "list" | "file" | "files" | "json";

export interface FieldNode {
  kind: FieldKind;
  name: string;
  label: string;
  help: string;
  placeholder: string;
  required: boolean;
  /** Only the agent may set it. */
  locked: boolean;
  sensitive: boolean;
  /** What the browser is told about a text: its format, or how a hint wants it shown. */
  format: string;
  integer: boolean;
  long: boolean;
  choices: { label: string; value: Json }[];
  members: FieldNode[];
  /** The schema of a list's items. */
  item?: FieldNode;
  accept: string[];
}

interface Around {
  root: JsonObject;
  hints: Record<string, FieldHint>;
  /** Where we are, for hints and against schemas that contain themselves. */
  path: string;
  depth: number;
}

const MAX_DEPTH = 8;

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** `#/$defs/address` of the document, and what is said beside the reference. */
export function resolve(schema: Json | undefined, root: JsonObject): JsonObject {
  let found = isObject(schema) ? schema : {};
  for (let hops = 0; typeof found.$ref === "string" && hops < 32; hops++) {
    const { $ref, ...beside } = found;
    const target = textOf($ref)
      .replace(/^#\/?/, "")
      .split("/")
      .filter((part) => part !== "")
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<Json | undefined>((at, part) => (isObject(at) ? at[part] : undefined), root);
    found = { ...(isObject(target) ? target : {}), ...beside };
  }
  return found;
}

const PARTS = ["if", "then", "else"] as const;

/** The members of an object, those that only a condition speaks of too: whether they are needed, the server says. */
function propertiesOf(schema: JsonObject, root: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) return {};
  const own = isObject(schema.properties) ? schema.properties : {};
  const listed = ["allOf", "anyOf", "oneOf"].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  const dependent = isObject(schema.dependentSchemas) ? Object.values(schema.dependentSchemas) : [];
  const others = [...PARTS.map((key) => schema[key]), ...listed, ...dependent].filter(isObject);
  const more = others.flatMap((other) => Object.entries(propertiesOf(resolve(other, root), root, depth + 1)));
  return { ...own, ...Object.fromEntries(more.filter(([name]) => !Object.hasOwn(own, name)).reverse()) };
}

const typeOf = (schema: JsonObject): string => {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return textOf(types.find((type) => type !== "null"));
};

function choicesOf(schema: JsonObject): FieldNode["choices"] {
  const titled = (Array.isArray(schema.oneOf) ? schema.oneOf : []).filter(isObject);
  if (titled.length > 0 && titled.every((one) => "const" in one)) {
    return titled.map((one) => ({ label: textOf(one.title) || String(one.const), value: one.const ?? null }));
  }
  const values = Array.isArray(schema.enum) ? schema.enum.filter((value) => value !== null) : [];
  return values.map((value) => ({ label: wordsOf(String(value)), value }));
}

function kindOf(schema: JsonObject, choices: FieldNode["choices"]): FieldKind {
  const file = schema["x-file"];
  if (isObject(file)) return typeof file.maxFiles === "number" && file.maxFiles > 1 ? "files" : "file";
  if (choices.length > 0) return "choice";
  const type = typeOf(schema);
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return "number";
  if (type === "boolean") return "boolean";
  if (type === "object" || (type === "" && isObject(schema.properties))) return "object";
  if (type === "array" && isObject(schema.items)) return "list";
  return "json";
}

/** `legal_name` → "Legal name", for schemas without titles. */
export function wordsOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const LONG_TEXT = 400;

function nodeOf(given: Json | undefined, name: string, around: Around & { required: boolean }): FieldNode {
  const { root, hints, path, depth } = around;
  const schema = resolve(given, root);
  const hint = hints[path] ?? {};
  const choices = choicesOf(schema);
  const kind = depth > MAX_DEPTH ? "json" : kindOf(schema, choices);
  const file = isObject(schema["x-file"]) ? schema["x-file"] : {};
  const inside = { root, hints, depth: depth + 1 };
  return {
    kind,
    name,
    label: hint.label ?? (textOf(schema.title) || wordsOf(name)),
    help: [textOf(schema.description), hint.help ?? ""].filter((text) => text !== "").join(" "),
    placeholder: hint.placeholder ?? "",
    required: around.required,
    locked: schema["x-fill"] === "agent" || schema.readOnly === true,
    sensitive: schema["x-sensitive"] === true,
    format: hint.widget === "password" ? "password" : textOf(schema.format),
    integer: typeOf(schema) === "integer",
    long:
      hint.widget === "textarea" ||
      (typeof schema.maxLength === "number" && schema.maxLength > LONG_TEXT && schema.format === undefined),
    choices,
    members: kind === "object" ? membersOf(schema, { ...inside, path }) : [],
    ...(kind === "list" && {
      item: nodeOf(schema.items, "", { ...inside, path: `${path}.0`, required: true }),
    }),
    accept: Array.isArray(file.accept) ? file.accept.map(String) : [],
  };
}

function membersOf(schema: JsonObject, around: Around): FieldNode[] {
  const needed = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members = Object.entries(propertiesOf(schema, around.root)).map(([name, member]) => {
    const path = around.path === "" ? name : `${around.path}.${name}`;
    return {
      order: around.hints[path]?.order,
      node: nodeOf(member, name, { ...around, path, required: needed.has(name) }),
    };
  });
  // Those that a hint gives a place come first; the rest is as in the schema.
  const placeOf = ({ order = Number.POSITIVE_INFINITY }: { order?: number | undefined }): number => order;
  return members
    .sort((one, other) => (placeOf(one) === placeOf(other) ? 0 : placeOf(one) - placeOf(other)))
    .map(({ node }) => node);
}

/** The fields of a form, in the order of the schema, or of the hints. */
export const fieldsOf = (schema: JsonObject, hints: Record<string, FieldHint> = {}): FieldNode[] =>
  membersOf(resolve(schema, schema), { root: schema, hints, path: "", depth: 0 });
