import { formTool } from "../form/form-tool.ts";
import { handoffTool } from "./handoff.ts";
import { INTAKE_TOOLS } from "./intakes.ts";
import { reviewTool } from "./review.ts";
import { SUBMISSION_TOOLS } from "./submissions.ts";
import type { Suffix, Tool } from "./tool.ts";
import { UPLOAD_TOOLS } from "./uploads.ts";

/** Every tool for models, one row each. */
export const TOOLS: readonly Tool[] = [...INTAKE_TOOLS, ...SUBMISSION_TOOLS, ...UPLOAD_TOOLS, handoffTool, reviewTool];

const byGeneric = new Map([...TOOLS, formTool].map((tool) => [tool.generic, tool]));
const bySuffix = new Map(TOOLS.flatMap((tool) => (tool.suffix === undefined ? [] : [[tool.suffix, tool] as const])));

export const genericTool = (name: string): Tool | undefined => byGeneric.get(name);
export const toolWith = (suffix: Suffix): Tool | undefined => bySuffix.get(suffix);

const PREFIX = "formbridge_";

export const intakeToolName = (intakeId: string, suffix: Suffix): string => `${PREFIX}${intakeId}_${suffix}`;

/** A suffix contains no underscore, so the last one ends the id. */
export function readIntakeTool(name: string): { intakeId: string; tool: Tool } | undefined {
  const cut = name.lastIndexOf("_");
  const tool = bySuffix.get(name.slice(cut + 1) as Suffix);
  if (tool === undefined || !name.startsWith(PREFIX) || cut <= PREFIX.length) return undefined;
  return { intakeId: name.slice(PREFIX.length, cut), tool };
}
