import {
  AbandonUploadRequest,
  AbandonUploadResponse,
  ConfirmUploadRequest,
  ConfirmUploadResponse,
  GetUploadResponse,
  GrantQuery,
  RequestUploadRequest,
  RequestUploadResponse,
  SignPartsRequest,
  SignPartsResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { INCOMING_FILE_ERRORS, param, READ_ERRORS, WRITE_ERRORS, writeCall } from "./shared.ts";

/** Files of one submission, by id or by token. */
export function uploadRoutes(root: "/submissions/:ref" | "/resume/:ref"): Route[] {
  const suffix = root.startsWith("/resume") ? "ByToken" : "";
  const opensWith = root.startsWith("/resume") ? "token" : "token, session or key";
  return [
    {
      method: "POST",
      path: `${root}/uploads`,
      id: `requestUpload${suffix}`,
      summary: "Announce a file and get a URL for it",
      body: RequestUploadRequest,
      response: RequestUploadResponse,
      opensWith,
      errors: WRITE_ERRORS,
      call: (operations, request) => {
        const { field, filename, mimeType, sizeBytes, sha256 } = request.body as RequestUploadRequest;
        const upload = { field, filename, mimeType, sizeBytes, ...(sha256 !== undefined && { sha256 }) };
        return operations.requestUpload({ ...writeCall(request), upload });
      },
    },
    {
      method: "POST",
      path: `${root}/uploads/:uploadId/confirm`,
      id: `confirmUpload${suffix}`,
      summary: "Confirm that a file was sent",
      body: ConfirmUploadRequest,
      response: ConfirmUploadResponse,
      opensWith,
      errors: [...WRITE_ERRORS, "upload_pending"],
      call: (operations, request) =>
        operations.confirmUpload({ ...writeCall(request), uploadId: param(request, "uploadId") }),
    },
    {
      method: "DELETE",
      path: `${root}/uploads/:uploadId`,
      id: `abandonUpload${suffix}`,
      summary: "Abandon a pending upload",
      body: AbandonUploadRequest,
      response: AbandonUploadResponse,
      opensWith,
      errors: WRITE_ERRORS,
      call: (operations, request) =>
        operations.abandonUpload({ ...writeCall(request), uploadId: param(request, "uploadId") }),
    },
    {
      method: "GET",
      path: `${root}/uploads/:uploadId`,
      id: `getUpload${suffix}`,
      summary: "Get a download URL for a confirmed file",
      response: GetUploadResponse,
      opensWith,
      errors: [...READ_ERRORS, "forbidden"],
      call: (operations, request) =>
        operations.getUpload({ caller: request.caller, target: request.target, uploadId: param(request, "uploadId") }),
    },
  ];
}

/** For storages that clients upload to directly. */
export const signPartsRoute: Route = {
  method: "POST",
  path: "/uploads/:uploadId/parts",
  id: "signParts",
  summary: "Get URLs for the parts of a file, and assemble them",
  body: SignPartsRequest,
  query: GrantQuery,
  response: SignPartsResponse,
  opensWith: "link",
  errors: INCOMING_FILE_ERRORS,
  call: (operations, request) => {
    const { grant } = request.query as GrantQuery;
    return operations.signParts({ uploadId: param(request, "uploadId"), grant, request: request.body });
  },
};
