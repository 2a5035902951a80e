import {
  CreateKeyRequest,
  CreateKeyResponse,
  ListKeysQuery,
  ListKeysResponse,
  RevokeKeyResponse,
} from "@formbridge/contract";
import type { Route } from "../route.ts";
import { BY_KEY, param } from "./shared.ts";

export const keyRoutes: Route[] = [
  {
    method: "POST",
    path: "/keys",
    id: "createKey",
    summary: "Create an API key; it is shown only this once",
    body: CreateKeyRequest,
    response: CreateKeyResponse,
    creates: true,
    ...BY_KEY,
    call: (operations, { caller, body }) =>
      operations.createKey({ caller, request: body as unknown as CreateKeyRequest }),
  },
  {
    method: "GET",
    path: "/keys",
    id: "listKeys",
    summary: "List API keys",
    query: ListKeysQuery,
    response: ListKeysResponse,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listKeys({ caller, query }),
  },
  {
    method: "DELETE",
    path: "/keys/:keyId",
    id: "revokeKey",
    summary: "Revoke an API key",
    response: RevokeKeyResponse,
    ...BY_KEY,
    call: (operations, request) => operations.revokeKey({ caller: request.caller, keyId: param(request, "keyId") }),
  },
];
