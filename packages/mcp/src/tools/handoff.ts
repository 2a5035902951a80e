import { FORM_META } from "../form/form-resource.ts";
import { callHandoff, HandoffAnswer, HandoffArguments } from "../human/handoff-call.ts";
import { MARK, pick, type Tool } from "./tool.ts";

export const handoffTool: Tool = {
  suffix: "handoff",
  generic: "formbridge_handoff",
  title: "Hand over to a human",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  args: HandoffArguments,
  required: [],
  output: HandoffAnswer,
  meta: FORM_META,
  converses: ({ ask, kind }) => ask !== undefined || kind === "magic_link",
  describe: ({ tool }) =>
    `Make a link with which a human goes on with the submission: for values that only they know or may set, and for files. Give them the url as it is, and to nobody else: whoever has it ` +
    `may fill in. A host that shows apps shows them the form at once. Your resumeToken stays good until they write; wait for that with ${tool("status")} and waitMs.`,
  call: callHandoff,
  short: (body) => pick(body, [...MARK, "handoffId", "kind", "url", "expiresAt", "qr", "asked"]),
};
