import type { IntakeResponse } from "@formbridge/contract";
import { type Policy, submissionLifetime, tokenLifetime } from "@formbridge/core";
import type { Plain } from "../schema/derive.ts";
import type { Audience } from "./audience.ts";
import { fieldsOf, inputOf } from "./input-schema.ts";
import { outputOf } from "./output-schema.ts";
import { intakeToolName } from "./table.ts";
import type { Annotations, Suffix, Tool, Words } from "./tool.ts";

/** A tool as listed by `tools/list`. */
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

/** Who a list is for, and how it is made. */
export interface ListOptions {
  policy: Policy;
  audience: Audience;
  /** Another tool's name in the same list. */
  tool(suffix: Suffix): string;
}

const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Rounded down, so that a caller can rely on it. */
function lifeInWords(ms: number): string {
  if (ms >= 2 * DAY) return `${Math.floor(ms / DAY)} days`;
  if (ms === HOUR) return "1 hour";
  if (ms >= 2 * HOUR) return `${Math.floor(ms / HOUR)} hours`;
  if (ms >= 2 * MINUTE) return `${Math.floor(ms / MINUTE)} minutes`;
  return `${Math.max(1, Math.floor(ms / 1000))} seconds`;
}

/** The lifetimes that the server enforces. */
const livesOf = (intake: Intake, policy: Policy): Pick<Words, "tokenLife" | "openFor"> => ({
  tokenLife: lifeInWords(tokenLifetime(intake, policy)),
  openFor: lifeInWords(submissionLifetime(intake, policy)),
});

/** The tools of one intake. A retired intake takes no new submissions; open ones continue. */
export function intakeTools(tools: readonly Tool[], intake: Intake, options: ListOptions): Advertised[] {
  const { id, name, description } = intake;
  const { policy, audience, tool: named } = options;
  const words: Words = {
    intake: { id, name, ...(description !== undefined && { description }) },
    ...livesOf(intake, policy),
    tool: named,
  };
  const fields = fieldsOf(intake);
  return tools.flatMap((tool) => {
    if (tool.suffix === undefined || (intake.retired === true && tool.suffix === "create")) return [];
    const input = inputOf(tool, { audience, tool: named, own: fields });
    return [advertised(tool, { name: intakeToolName(id, tool.suffix), title: `${name}: ${tool.title}`, words, input })];
  });
}

export const genericTools = (
  tools: readonly Tool[],
  { audience, tool: named }: Omit<ListOptions, "policy">,
): Advertised[] =>
  tools.map((tool) =>
    advertised(tool, {
      name: tool.generic,
      title: tool.title,
      words: { tool: named },
      input: inputOf(tool, { audience, tool: named }),
    }),
  );

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
