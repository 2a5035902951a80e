import type { IntakeResponse } from "@formbridge/contract";
import { deriveFields, type Plain, withoutMarks } from "../schema/derive.ts";
import { outputOf } from "./output-schema.ts";
import { genericToolName, intakeToolName } from "./table.ts";
import type { Annotations, Tool, Words } from "./tool.ts";

/** A tool as `tools/list` shows it. */
export interface Advertised {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: "object" } & Plain;
  outputSchema: { type: "object" } & Plain;
  annotations: Annotations & { title: string };
  _meta?: Readonly<Record<string, unknown>>;
}

type Intake = IntakeResponse["intake"];

const DAY = 86_400_000;
const HOUR = 3_600_000;

export const lifeInWords = (ms: number): string => {
  const [amount, unit] =
    ms >= 2 * DAY
      ? [Math.round(ms / DAY), "days"]
      : ms >= 2 * HOUR
        ? [Math.round(ms / HOUR), "hours"]
        : [Math.max(1, Math.round(ms / 60_000)), "minutes"];
  return `${amount} ${unit}`;
};

/** The tools of one intake. A retired one takes no new submissions; the running ones go on. */
export function intakeTools(
  tools: readonly Tool[],
  intake: Intake,
  { tokenTtlMs }: { tokenTtlMs: number },
): Advertised[] {
  const { id, name, description } = intake;
  const words: Words = {
    intake: { id, name, ...(description !== undefined && { description }) },
    tokenLife: lifeInWords(intake.tokens?.ttlMs ?? tokenTtlMs),
    tool: (suffix) => intakeToolName(id, suffix),
  };
  const fields = fieldsOf(intake);
  return tools.flatMap((tool) => {
    if (tool.suffix === undefined || (intake.retired === true && tool.suffix === "create")) return [];
    const input = inputOf(tool, { fields });
    return [
      advertised(tool, { name: intakeToolName(id, tool.suffix), title: `${intake.name}: ${tool.title}`, words, input }),
    ];
  });
}

export function genericTools(tools: readonly Tool[], { tokenTtlMs }: { tokenTtlMs: number }): Advertised[] {
  const words: Words = { tokenLife: lifeInWords(tokenTtlMs), tool: genericToolName };
  return tools.map((tool) => advertised(tool, { name: tool.generic, title: tool.title, words, input: inputOf(tool) }));
}

function advertised(tool: Tool, as: { name: string; title: string; words: Words; input: Plain }): Advertised {
  return {
    name: as.name,
    title: as.title,
    description: tool.describe(as.words),
    inputSchema: { ...as.input, type: "object" },
    outputSchema: outputOf(tool.output),
    annotations: { title: as.title, ...tool.annotations },
    ...(tool.meta && { _meta: tool.meta }),
  };
}

interface FieldSchemas {
  values: Plain;
  /** The paths of file fields. */
  files: string[];
  byHumans: string[];
}

/** What the intake says of its fields, once as values and once as names. */
function fieldsOf({ schema }: Intake): FieldSchemas {
  const all = deriveFields(schema, { forAgents: false });
  return {
    values: withoutMarks(deriveFields(schema, { forAgents: true })) as Plain,
    files: pathsWith(all, (node) => node["x-file"] !== undefined),
    byHumans: pathsWith(all, (node) => node["x-fill"] === "human"),
  };
}

function pathsWith(schema: Plain, test: (node: Plain) => boolean, at = ""): string[] {
  return Object.entries((schema.properties ?? {}) as Record<string, Plain>).flatMap(([name, node]) => {
    const path = at === "" ? name : `${at}.${name}`;
    return test(node) ? [path] : pathsWith(node, test, path);
  });
}

const verbose = {
  type: "boolean",
  description: "true: the whole answer, with schema and attribution.",
};

const ACTOR = {
  type: "object",
  properties: { kind: { type: "string", enum: ["agent", "human"] }, id: { type: "string" }, name: { type: "string" } },
  required: ["kind", "id"],
};

/** Arguments that a model is told less of than the contract takes. */
const TOLD_SHORT: Readonly<Record<string, Plain>> = {
  actor: { ...ACTOR, description: "Who is acting. Leave it out when you act for yourself." },
  allowedActors: {
    type: "array",
    items: ACTOR,
    description: "Who may open the link. Without it: any human who has it.",
  },
};

/** The root is a plain object, whatever the intake's schema is: hosts drop tools with anything else there. */
function inputOf(tool: Tool, own?: { fields: FieldSchemas }): Plain {
  const properties: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(tool.args.properties)) {
    // A tool of one intake knows which.
    if (own !== undefined && name === "intakeId") continue;
    properties[name] = TOLD_SHORT[name] ?? argumentOf(schema);
  }
  if (own !== undefined && tool.fieldsIn !== undefined) {
    properties[tool.fieldsIn] = valuesArgument(tool.fieldsIn, own.fields);
  }
  if (own !== undefined && tool.fileFieldIn !== undefined) {
    const names = own.fields.files.join(", ");
    const which = names === "" ? "This intake has no file fields." : `File fields here: ${names}.`;
    properties[tool.fileFieldIn] = { type: "string", description: `Dot-path of the file field. ${which}` };
  }
  const required = tool.required.filter((name) => Object.hasOwn(properties, name));
  return {
    type: "object",
    properties: { ...properties, verbose },
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** An argument by the contract, without what a model has no use for. */
function argumentOf(schema: unknown): Plain {
  const { examples: _examples, patternProperties: _any, ...plain } = plainCopy(schema);
  return typed(plain);
}

function valuesArgument(name: string, { values, byHumans }: FieldSchemas): Plain {
  const humans = byHumans.length === 0 ? "" : ` Only a human may set: ${byHumans.join(", ")} (hand over for these).`;
  const words = name === "fields" ? "The values to set." : "The values that are known already.";
  return { ...values, type: "object", description: `${words}${humans}` };
}

/** Our enumerations are of words. */
const typed = (schema: Plain): Plain => (Array.isArray(schema.enum) ? { type: "string", ...schema } : schema);

/** TypeBox schemas carry more than goes over the wire. */
const plainCopy = (schema: unknown): Plain => JSON.parse(JSON.stringify(schema)) as Plain;
