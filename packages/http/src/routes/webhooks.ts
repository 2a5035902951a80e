import {
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeleteWebhookResponse,
  EnableWebhookRequest,
  type ErrorType,
  ListWebhooksQuery,
  ListWebhooksResponse,
  RotateWebhookSecretRequest,
  RotateWebhookSecretResponse,
  WebhookResponse,
} from "@formbridge/contract";
import type { Parsed, Route } from "../route.ts";
import { ADMIN_ERRORS, param } from "./shared.ts";

const CHANGE_ERRORS: readonly ErrorType[] = [...ADMIN_ERRORS, "conflict"];
const oneOf = (request: Parsed) => ({ caller: request.caller, webhookId: param(request, "webhookId") });

export const webhookRoutes: Route[] = [
  {
    method: "POST",
    path: "/webhooks",
    id: "createWebhook",
    summary: "Have events sent to a URL; the secret that signs them is shown this once",
    body: CreateWebhookRequest,
    response: CreateWebhookResponse,
    creates: true,
    opensWith: "key",
    errors: CHANGE_ERRORS,
    call: (operations, { caller, body }) =>
      operations.createWebhook({ caller, request: body as unknown as CreateWebhookRequest }),
  },
  {
    method: "GET",
    path: "/webhooks",
    id: "listWebhooks",
    summary: "List webhooks, and how they fare",
    query: ListWebhooksQuery,
    response: ListWebhooksResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, { caller, query }) => operations.listWebhooks({ caller, query }),
  },
  {
    method: "GET",
    path: "/webhooks/:webhookId",
    id: "getWebhook",
    summary: "Read a webhook, and how it fares",
    response: WebhookResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, request) => operations.getWebhook(oneOf(request)),
  },
  {
    method: "DELETE",
    path: "/webhooks/:webhookId",
    id: "deleteWebhook",
    summary: "Send no more events there",
    response: DeleteWebhookResponse,
    opensWith: "key",
    errors: CHANGE_ERRORS,
    call: (operations, request) => operations.deleteWebhook(oneOf(request)),
  },
  {
    method: "POST",
    path: "/webhooks/:webhookId/enable",
    id: "enableWebhook",
    summary: "Go on with a webhook that was disabled, where it stopped",
    body: EnableWebhookRequest,
    response: WebhookResponse,
    opensWith: "key",
    errors: ADMIN_ERRORS,
    call: (operations, request) => operations.enableWebhook(oneOf(request)),
  },
  {
    method: "POST",
    path: "/webhooks/:webhookId/secret",
    id: "rotateWebhookSecret",
    summary: "Replace a webhook's secret; the old one signs too for a while",
    body: RotateWebhookSecretRequest,
    response: RotateWebhookSecretResponse,
    opensWith: "key",
    errors: CHANGE_ERRORS,
    call: (operations, request) =>
      operations.rotateWebhookSecret({ ...oneOf(request), request: request.body as RotateWebhookSecretRequest }),
  },
];
