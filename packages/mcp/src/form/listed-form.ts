import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { type Advertised, genericTools } from "../tools/advertise.ts";
import { formTool, mayShowApps } from "./form-tool.ts";

const FORM_TOOLS = genericTools([formTool], {
  audience: { writes: true, reviews: false, needsToken: false },
  tool: () => "",
});
const AS_TEXT = JSON.stringify(FORM_TOOLS);

/** Tools that a client lists in addition to those for its model. */
export const formToolsFor = (capabilities: ClientCapabilities | undefined): readonly Advertised[] =>
  mayShowApps(capabilities) ? FORM_TOOLS : [];

/** Appends them to a list that is already serialized. */
export function withFormTools(tools: string, capabilities: ClientCapabilities | undefined): string {
  if (!mayShowApps(capabilities)) return tools;
  return tools === "[]" ? AS_TEXT : `${tools.slice(0, -1)},${AS_TEXT.slice(1)}`;
}
