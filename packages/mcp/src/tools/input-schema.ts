import type { IntakeResponse } from "@formbridge/contract";
import { deriveFields, type Plain, withoutMarks } from "../schema/derive.ts";
import { withHints } from "../schema/hints.ts";
import { requiredInWords } from "../schema/required.ts";
import type { Audience } from "./audience.ts";
import type { Suffix, Tool } from "./tool.ts";

/** An intake's fields as a schema, and in words for what a schema can't express. */
export interface FieldSchemas {
  values: Plain;
  /** The same without files, which can only be uploaded to an existing submission. */
  firstValues: Plain;
  files: { path: string; rule: string }[];
  byHumans: string[];
  required: string;
}

interface InputOptions {
  audience: Audience;
  tool(suffix: Suffix): string;
  /** The fields of the tool's own intake. */
  own?: FieldSchemas;
}

/** Larger schemas would crowd a model's context; `get_intake` shows them. */
const MAX_SCHEMA_CHARS = 8_000;

export function fieldsOf({ schema, uiHints }: IntakeResponse["intake"]): FieldSchemas {
  const all = deriveFields(schema, { forAgents: false });
  const marked = withHints(deriveFields(schema, { forAgents: true }), uiHints?.fieldHints ?? {});
  return {
    values: withoutMarks(marked) as Plain,
    firstValues: withoutMarks(withoutFiles(marked)) as Plain,
    files: nodesWith(all, "x-file").map(({ path, node }) => ({ path, rule: String(node["x-file-rule"] ?? "") })),
    byHumans: nodesWith(all, "x-fill")
      .filter(({ node }) => node["x-fill"] === "human")
      .map(({ path }) => path),
    required: requiredInWords(all),
  };
}

function nodesWith(schema: Plain, mark: string, at = ""): { path: string; node: Plain }[] {
  return Object.entries((schema.properties ?? {}) as Record<string, Plain>).flatMap(([name, node]) => {
    const path = at === "" ? name : `${at}.${name}`;
    return node[mark] !== undefined ? [{ path, node }] : nodesWith(node, mark, path);
  });
}

/** Removes top-level files only: an object keeps all its members. */
function withoutFiles(schema: Plain): Plain {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Plain>);
  return { ...schema, properties: Object.fromEntries(properties.filter(([, node]) => node["x-file"] === undefined)) };
}

const VERBOSE = { type: "boolean", description: "true: the whole response" };

/** Arguments with shorter schemas than in the contract, because every tool repeats them. */
const TOLD_SHORT: Readonly<Record<string, Plain>> = {
  actor: { type: "object", description: "{kind, id, name?} to act for somebody else" },
  allowedActors: {
    type: "array",
    items: { type: "object" },
    description: "{kind, id} of who may open the link; default: any human",
  },
  submissionId: { type: "string" },
  resumeToken: { type: "string", description: "The latest" },
  version: { type: "integer", description: "If given, must be current" },
  idempotencyKey: { type: "string", description: "The same for every retry of the same call" },
};

/** With an API key there are two ways to identify a submission, which `required` can't express. */
const BY_KEY: Readonly<Record<string, Plain>> = {
  resumeToken: { type: "string", description: "The latest; or submissionId and version" },
};

/** The root is always a plain object: hosts drop tools with anything else there. */
export function inputOf(tool: Tool, { audience, tool: named, own }: InputOptions): Plain {
  const { needsToken } = audience;
  const properties: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(tool.args.properties)) {
    // A tool of one intake implies the intake, and without an API key an id opens nothing.
    if ((own !== undefined && name === "intakeId") || (needsToken && name === "submissionId")) continue;
    const told = needsToken ? TOLD_SHORT[name] : (BY_KEY[name] ?? TOLD_SHORT[name]);
    properties[name] = told ?? argumentOf(schema);
  }
  if (own !== undefined && tool.fieldsIn !== undefined) {
    properties[tool.fieldsIn] = valuesArgument(tool.fieldsIn, own, named);
  }
  if (own !== undefined && tool.fileFieldIn !== undefined) {
    properties[tool.fileFieldIn] = { type: "string", description: fileFieldsInWords(own) };
  }
  const token = needsToken && Object.hasOwn(properties, "resumeToken") ? ["resumeToken"] : [];
  const required = [...token, ...tool.required.filter((name) => Object.hasOwn(properties, name))];
  return {
    type: "object",
    properties: { ...properties, verbose: VERBOSE },
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** An argument's schema without what a model has no use for. */
function argumentOf(schema: unknown): Plain {
  const { examples: _examples, patternProperties: _any, ...plain } = plainCopy(schema);
  return typed(plain);
}

const fileFieldsInWords = ({ files }: FieldSchemas): string =>
  files.length === 0
    ? "Dot-path of the file field. This intake has no file fields."
    : `Dot-path of the file field. File fields here: ${files.map(({ path }) => path).join(", ")}.`;

function valuesArgument(name: "fields" | "initialFields", own: FieldSchemas, named: InputOptions["tool"]): Plain {
  const { files, byHumans, required } = own;
  const isFirst = name === "initialFields";
  const values = isFirst ? own.firstValues : own.values;
  const isLarge = JSON.stringify(values).length > MAX_SCHEMA_CHARS;
  const description = [
    isFirst ? "What is known already; may be incomplete." : "The values to set; may be incomplete.",
    required,
    byHumans.length > 0 && `Only a human may set (${named("handoff")}): ${byHumans.join(", ")}.`,
    isFirst &&
      files.length > 0 &&
      `Files, later by ${named("upload")}: ${files.map(({ path, rule }) => `${path} (${rule})`).join("; ")}.`,
    isLarge && "There are many fields: read them with formbridge_get_intake first.",
  ];
  return {
    ...(isLarge ? {} : values),
    type: "object",
    description: description.filter((part) => part !== false && part !== "").join(" "),
  };
}

/** All our enumerations are strings. */
const typed = (schema: Plain): Plain => (Array.isArray(schema.enum) ? { type: "string", ...schema } : schema);

/** TypeBox schemas contain symbols that don't go over the wire. */
const plainCopy = (schema: unknown): Plain => JSON.parse(JSON.stringify(schema)) as Plain;
