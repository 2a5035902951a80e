import { ContractError } from "@formbridge/core";
import type { CallerView } from "./catalog.ts";
import { guideOf } from "./schema/guide.ts";
import type { Suffix } from "./tools/tool.ts";

export const PROMPTS = [
  {
    name: "fill_intake",
    needs: "create" as const,
    title: "Fill this intake",
    description: "Start a submission and fill it in, asking only for what isn't known.",
    arguments: [
      { name: "intakeId", description: "Which intake.", required: true },
      { name: "known", description: "What is known already, in any words.", required: false },
    ],
  },
  {
    name: "continue_submission",
    needs: "set" as const,
    title: "Continue this submission",
    description: "Continue a submission where it is.",
    arguments: [{ name: "resumeToken", description: "The latest resume token of the submission.", required: true }],
  },
];

/** The prompts whose tools are all in the caller's list: a viewer can neither start nor continue a submission. */
export const promptsFor = (view: CallerView) =>
  PROMPTS.filter(({ needs }) => isUsable(needs, view)).map(({ needs: _needs, ...prompt }) => prompt);

const isUsable = (needs: Suffix, view: CallerView): boolean =>
  needs === "create" ? view.creates().length > 0 : view.nameOf(needs) !== undefined;

interface PromptCall {
  name: string;
  args: Readonly<Record<string, string>>;
  view: CallerView;
}

/** The text of a prompt; undefined if the caller has no such prompt. */
export function promptText({ name, args, view }: PromptCall): string | undefined {
  if (!promptsFor(view).some((prompt) => prompt.name === name)) return undefined;
  if (name === "fill_intake") return fillText(args, view);
  return name === "continue_submission" ? continueText(args, view) : undefined;
}

function required(args: Readonly<Record<string, string>>, name: string): string {
  const value = args[name];
  if (value === undefined || value === "") throw new ContractError("bad_request", `The argument ${name} is missing.`);
  return value;
}

function fillText(args: Readonly<Record<string, string>>, view: CallerView): string {
  const intakeId = required(args, "intakeId");
  const intake = view.intakes.find(({ definition, retired }) => definition.id === intakeId && !retired);
  if (intake === undefined) throw new ContractError("not_found", "This intake doesn't exist.");
  const { name, description, schema } = intake.definition;
  const tool = (suffix: Suffix): string => view.nameOf(suffix, intakeId) ?? "";
  const guide = guideOf(schema);
  const lines = Object.keys((schema.properties ?? {}) as object).map((field) => {
    const note = guide.describe(field);
    const who = note.fill === "human" ? ", only a human may set it" : "";
    const words = [note.title, note.description].filter((part) => part !== undefined).join(": ");
    return `- ${field} (${note.type ?? "any"}${who})${words === "" ? "" : ` ${words}`}`;
  });
  const required_ = Array.isArray(schema.required) ? schema.required.join(", ") : "";
  return [
    `Fill in "${name}"${description === undefined ? "" : ` (${description})`}.`,
    `Fields:\n${lines.join("\n")}`,
    ...(required_ === "" ? [] : [`Required: ${required_}.`]),
    ...(args.known === undefined || args.known === "" ? [] : [`What is known already: ${args.known}`]),
    `Call ${tool("create")} (intakeId ${intakeId}) with what you know. Ask the user for what is missing, in the order of toFill, and send it with ${tool("set")}. Invent nothing.`,
    `For fields that only a human may set, and files you can't send, call ${tool("handoff")} and give the user the url.`,
    `When nothing is missing, show the user what will be sent, and after their consent call ${tool("submit")}.`,
    "Keep the latest resumeToken: with it the work can be continued, even days later.",
  ].join("\n\n");
}

function continueText(args: Readonly<Record<string, string>>, view: CallerView): string {
  const token = required(args, "resumeToken");
  const tool = (suffix: Suffix): string => view.nameOf(suffix) ?? "";
  return [
    `Continue the submission with the resumeToken ${token}.`,
    `Call ${tool("status")} with it: the response has the values, what is missing and, if somebody wrote meanwhile, the current resumeToken.`,
    `Ask the user for what is missing and send it with ${tool("set")}. When nothing is missing and the user agrees, call ${tool("submit")}.`,
    "If an error has a proposal, send that. If the submission has ended, say so.",
  ].join("\n\n");
}
