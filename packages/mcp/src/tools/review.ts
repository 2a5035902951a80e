import { ReviewRequest, ReviewResponse, SetFieldsRequest } from "@formbridge/contract";
import Type from "typebox";
import { MARK, pick, type Tool, WRITES, writeCall } from "./tool.ts";

export const reviewTool: Tool = {
  suffix: "review",
  generic: "formbridge_review",
  audience: "reviewers",
  title: "Approve or reject",
  annotations: { ...WRITES, destructiveHint: true, openWorldHint: true },
  args: Type.Object({ submissionId: SetFieldsRequest.properties.submissionId, ...ReviewRequest.properties }),
  required: ["submissionId", "decision"],
  output: ReviewResponse,
  describe: ({ tool }) =>
    `Approve or reject a submission that is waiting for your review; read it with ${tool("status")} first. Rejecting needs reasons or fieldReasons, and opens it again for whoever filled it in.`,
  call: (call) => {
    const verdict = pick(call.args as ReviewRequest, ["decision", "reasons", "fieldReasons", "comment"]);
    return call.operations.review({ ...writeCall(call), ...verdict });
  },
  short: (body) => pick(body, [...MARK, "decision", "reviewedAt", "reasons", "fieldReasons", "comment", "finalizedAt"]),
};
