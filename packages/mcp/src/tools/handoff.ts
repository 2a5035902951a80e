import type { Picture } from "../answers/result.ts";
import { FORM_META } from "../form/form-resource.ts";
import { callHandoff, HandoffAnswer, HandoffArguments } from "../human/handoff-call.ts";
import { MARK, pick, type Tool, WRITES } from "./tool.ts";

export const handoffTool: Tool = {
  suffix: "handoff",
  generic: "formbridge_handoff",
  title: "Hand over to a human",
  annotations: { ...WRITES, openWorldHint: true },
  args: HandoffArguments,
  required: [],
  output: HandoffAnswer,
  meta: FORM_META,
  converses: ({ ask, kind }) => ask !== undefined || kind === "magic_link",
  describe: ({ tool }) =>
    `Create a link with which a human continues the submission: for values that only they know or may set, and for files. Give the url only to that human: whoever has it may fill in the form. ` +
    `Your resumeToken stays valid until they write; wait for that with ${tool("status")} and waitMs.`,
  call: callHandoff,
  short: (body) => pick(body, [...MARK, "handoffId", "kind", "url", "expiresAt", "asked"]),
  images: ({ qr }) => pngOf(qr as { png?: string } | undefined),
  withoutImages: ({ qr: _qr, ...body }) => body,
};

const PNG = "data:image/png;base64,";

/** A separate part of the result: as text it would be thousands of tokens. */
const pngOf = (qr: { png?: string } | undefined): Picture[] =>
  qr?.png?.startsWith(PNG) === true ? [{ type: "image", mimeType: "image/png", data: qr.png.slice(PNG.length) }] : [];
