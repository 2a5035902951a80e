import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { type Advertised, genericTools } from "../tools/advertise.ts";
import { formTool, mayShowApps } from "./form-tool.ts";

const FORM_TOOLS = genericTools([formTool], { tokenTtlMs: 0 });
const AS_TEXT = JSON.stringify(FORM_TOOLS);

/** What a client's list of tools has besides what its models see. */
export const formToolsFor = (capabilities: ClientCapabilities | undefined): readonly Advertised[] =>
  mayShowApps(capabilities) ? FORM_TOOLS : [];

/** The same at the end of a list that is text already. */
export function withFormTools(tools: string, capabilities: ClientCapabilities | undefined): string {
  if (!mayShowApps(capabilities)) return tools;
  return tools === "[]" ? AS_TEXT : `${tools.slice(0, -1)},${AS_TEXT.slice(1)}`;
}
