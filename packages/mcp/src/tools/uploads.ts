import {
  AbandonUploadRequest,
  AbandonUploadResponse,
  ConfirmUploadRequest,
  ConfirmUploadResponse,
  RequestUploadRequest,
  RequestUploadResponse,
} from "@formbridge/contract";
import { explain } from "../answers/short.ts";
import { MARK, pick, type Tool, WRITES, writeCall } from "./tool.ts";

const uploadTool: Tool = {
  suffix: "upload",
  generic: "formbridge_request_upload",
  title: "Announce a file",
  annotations: WRITES,
  args: RequestUploadRequest,
  required: ["field", "filename", "mimeType", "sizeBytes"],
  fileFieldIn: "field",
  output: RequestUploadResponse,
  describe: ({ tool }) =>
    `Announce a file for a file field. Send its bytes to the url in the response, with its method and headers, then call ${tool("confirm")}. ` +
    `If you can't send bytes, call ${tool("handoff")} and let a human add the file.`,
  call: (call) => {
    const args = call.args as RequestUploadRequest;
    const upload = pick(args, ["field", "filename", "mimeType", "sizeBytes", "sha256"]);
    return call.operations.requestUpload({ ...writeCall(call), upload });
  },
  short: (body) => pick(body, [...MARK, "uploadId", "method", "url", "headers", "expiresInMs", "constraints"]),
};

const confirmTool: Tool = {
  suffix: "confirm",
  generic: "formbridge_confirm_upload",
  title: "Confirm a file",
  annotations: WRITES,
  args: ConfirmUploadRequest,
  required: ["uploadId"],
  output: ConfirmUploadResponse,
  describe: ({ tool }) =>
    `Confirm that the bytes of a file that ${tool("upload")} announced were sent. The file is checked and put into its field.`,
  call: (call) => {
    const { uploadId = "" } = call.args as ConfirmUploadRequest;
    return call.operations.confirmUpload({ ...writeCall(call), uploadId });
  },
  short: (body, guide) => ({ ...pick(body, MARK), ...explain(body, guide) }),
};

const abandonTool: Tool = {
  generic: "formbridge_abandon_upload",
  title: "Give up a file",
  annotations: { ...WRITES, destructiveHint: true },
  args: AbandonUploadRequest,
  required: ["uploadId"],
  output: AbandonUploadResponse,
  describe: ({ tool }) =>
    `Abandon a file that ${tool("upload")} announced and that won't be sent, so that nothing waits for it. Not for confirmed files: set their field to null.`,
  call: (call) => {
    const { uploadId = "" } = call.args as AbandonUploadRequest;
    return call.operations.abandonUpload({ ...writeCall(call), uploadId });
  },
  short: (body, guide) => ({ ...pick(body, [...MARK, "uploadId", "pendingUploads"]), ...explain(body, guide) }),
};

export const UPLOAD_TOOLS: readonly Tool[] = [uploadTool, confirmTool, abandonTool];
