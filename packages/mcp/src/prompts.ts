import { ContractError } from "@formbridge/core";
import type { CallerView } from "./catalog.ts";
import { guideOf } from "./schema/guide.ts";
import { genericToolName, intakeToolName } from "./tools/table.ts";
import type { Suffix } from "./tools/tool.ts";

export const PROMPTS = [
  {
    name: "fill_intake",
    title: "Fill this intake",
    description: "Start a submission and fill it in, asking only for what is not known.",
    arguments: [
      { name: "intakeId", description: "Which intake.", required: true },
      { name: "known", description: "What is known already, in any words.", required: false },
    ],
  },
  {
    name: "continue_submission",
    title: "Continue this submission",
    description: "Take up a submission where it stands.",
    arguments: [{ name: "resumeToken", description: "The latest resume token of the submission.", required: true }],
  },
];

interface PromptCall {
  name: string;
  args: Readonly<Record<string, string>>;
  view: CallerView;
}

/** The words of a prompt; undefined when there is no such prompt. */
export function promptText({ name, args, view }: PromptCall): string | undefined {
  if (name === "fill_intake") return fillText(args, view);
  return name === "continue_submission" ? continueText(args, view) : undefined;
}

function required(args: Readonly<Record<string, string>>, name: string): string {
  const value = args[name];
  if (value === undefined || value === "") throw new ContractError("bad_request", `The argument ${name} is missing.`);
  return value;
}

/** The tools as this caller's list names them. */
const namesIn = (view: CallerView, intakeId: string | undefined) => {
  const listed = new Set(view.tools().map((tool) => tool.name));
  return (suffix: Suffix): string => {
    const own = intakeId === undefined ? "" : intakeToolName(intakeId, suffix);
    return listed.has(own) ? own : genericToolName(suffix);
  };
};

function fillText(args: Readonly<Record<string, string>>, view: CallerView): string {
  const intakeId = required(args, "intakeId");
  const intake = view.intakes.find(({ definition, retired }) => definition.id === intakeId && !retired);
  if (intake === undefined) throw new ContractError("not_found", "There is no such intake.");
  const { name, description, schema } = intake.definition;
  const tool = namesIn(view, intakeId);
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
    "Keep the latest resumeToken: with it the work can be taken up again, also days later.",
  ].join("\n\n");
}

function continueText(args: Readonly<Record<string, string>>, view: CallerView): string {
  const token = required(args, "resumeToken");
  const tool = namesIn(view, undefined);
  return [
    `Take up the submission with the resumeToken ${token}.`,
    `Call ${tool("status")} with it: the answer says what is there, what is missing and, when somebody wrote meanwhile, the current resumeToken.`,
    `Ask the user for what is missing and send it with ${tool("set")}. When nothing is missing and the user agrees, call ${tool("submit")}.`,
    "If an error has a proposal, send that. If the submission is over, say so.",
  ].join("\n\n");
}
