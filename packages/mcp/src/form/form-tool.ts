import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { type Tool, WRITES } from "../tools/tool.ts";
import { callForm } from "./form-calls.ts";
import { FORM_META } from "./form-resource.ts";
import { FormAnswerSchema, type FormArguments, FormArgumentsSchema } from "./form-schemas.ts";

/**
 * What the form calls through its host. It is authorized by the hand-off session alone, not by anything the host holds.
 */
export const formTool: Tool = {
  generic: "formbridge_form",
  title: "The form's own calls",
  annotations: { ...WRITES, destructiveHint: true, openWorldHint: true },
  args: FormArgumentsSchema,
  required: ["action", "submissionId"],
  output: FormAnswerSchema,
  meta: { ...FORM_META, ui: { ...FORM_META.ui, visibility: ["app"] } },
  describe: () =>
    "For the form that hosts show to their user after a hand-off, and not for models: it acts as the human who opened the hand-off.",
  call: async ({ operations, caller, args }) => ({
    body: await callForm({ operations, caller, args: args as FormArguments }),
  }),
  short: (body) => body,
};

export const UI_EXTENSION = "io.modelcontextprotocol/ui";

/** List the form for hosts that show apps, and for those that don't say whether they do. */
export const mayShowApps = (capabilities: ClientCapabilities | undefined): boolean =>
  capabilities === undefined || capabilities.extensions?.[UI_EXTENSION] !== undefined;
