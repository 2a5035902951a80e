import { ReviewRequest, ReviewResponse, SetFieldsRequest } from "@formbridge/contract";
import Type from "typebox";
import { MARK, pick, type Tool, writeCall } from "./tool.ts";

export const reviewTool: Tool = {
  suffix: "review",
  generic: "formbridge_review",
  audience: "reviewers",
  title: "Approve or reject",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  args: Type.Object({ submissionId: SetFieldsRequest.properties.submissionId, ...ReviewRequest.properties }),
  required: ["submissionId", "decision"],
  output: ReviewResponse,
  describe: ({ tool }) =>
    `Approve or reject a submission that is waiting for your review; read it with ${tool("status")} first. Rejecting needs reasons or fieldReasons, and opens it again for whoever filled it in.`,
  call: (call) => {
    const { decision, reasons, fieldReasons, comment } = call.args as ReviewRequest;
    return call.operations.review({
      ...writeCall(call),
      decision,
      ...(reasons && { reasons }),
      ...(fieldReasons && { fieldReasons }),
      ...(comment !== undefined && { comment }),
    });
  },
  short: (body) => pick(body, [...MARK, "decision", "reviewedAt", "reasons", "fieldReasons", "comment", "finalizedAt"]),
};
