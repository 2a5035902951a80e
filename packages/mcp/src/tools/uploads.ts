import {
  ConfirmUploadRequest,
  ConfirmUploadResponse,
  RequestUploadRequest,
  RequestUploadResponse,
} from "@formbridge/contract";
import { explain } from "../answers/short.ts";
import { MARK, pick, type Tool, writeCall } from "./tool.ts";

const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

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
    `Announce a file for a file field. The answer has a URL: send the bytes there with the method and headers that it names (any HTTP client will do), then call ${tool("confirm")} ` +
    `with the uploadId. If you can't send the bytes yourself, call ${tool("handoff")} and let a human add the file.`,
  call: (call) => {
    const { field, filename, mimeType, sizeBytes, sha256 } = call.args as RequestUploadRequest;
    const upload = { field, filename, mimeType, sizeBytes, ...(sha256 !== undefined && { sha256 }) };
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
    `Say that the bytes of a file that ${tool("upload")} announced were sent. The file is checked (size, type, content) and fills its field.`,
  call: (call) => {
    const { uploadId = "" } = call.args as ConfirmUploadRequest;
    return call.operations.confirmUpload({ ...writeCall(call), uploadId });
  },
  short: (body, guide) => ({ ...pick(body, MARK), ...explain(body, guide) }),
};

export const UPLOAD_TOOLS: readonly Tool[] = [uploadTool, confirmTool];
