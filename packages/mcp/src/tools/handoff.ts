import { CreateHandoffRequest, CreateHandoffResponse } from "@formbridge/contract";
import { MARK, pick, type Tool, writeCall } from "./tool.ts";

export const handoffTool: Tool = {
  suffix: "handoff",
  generic: "formbridge_handoff",
  title: "Hand over to a human",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  args: CreateHandoffRequest,
  required: [],
  output: CreateHandoffResponse,
  describe: ({ tool }) =>
    `Make a link with which a human goes on with the submission: for values that only they know or may set, and for files. Give them the url as it is, and to nobody else: whoever has it ` +
    `may fill in. Your resumeToken stays good until they write; look with ${tool("status")} whether they did.`,
  call: (call) => {
    const { kind, expiresInMs, allowedActors, recipientEmail, message, qrFormat } = call.args as CreateHandoffRequest;
    const handoff = {
      ...(kind !== undefined && { kind }),
      ...(expiresInMs !== undefined && { expiresInMs }),
      ...(allowedActors && { allowedActors }),
      ...(recipientEmail !== undefined && { recipientEmail }),
      ...(message !== undefined && { message }),
      ...(qrFormat !== undefined && { qrFormat }),
    };
    return call.operations.createHandoff({ ...writeCall(call), handoff });
  },
  short: (body) => pick(body, [...MARK, "handoffId", "kind", "url", "expiresAt", "qr"]),
};
