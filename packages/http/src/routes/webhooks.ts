import {
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeleteWebhookResponse,
  EnableWebhookRequest,
  ListWebhooksQuery,
  ListWebhooksResponse,
  ReplayEventsRequest,
  ReplayEventsResponse,
  RotateWebhookSecretRequest,
  RotateWebhookSecretResponse,
  SkipEventsRequest,
  SkipEventsResponse,
  TestWebhookRequest,
  TestWebhookResponse,
  WebhookResponse,
} from "@formbridge/contract";
import type { Parsed, Route } from "../route.ts";
import { ADMIN_ERRORS, BY_KEY, param } from "./shared.ts";

const CHANGES: Pick<Route, "opensWith" | "errors"> = { opensWith: "key", errors: [...ADMIN_ERRORS, "conflict"] };
const oneOf = (request: Parsed) => ({ caller: request.caller, webhookId: param(request, "webhookId") });

export const webhookRoutes: Route[] = [
  {
    method: "POST",
    path: "/webhooks",
    id: "createWebhook",
    summary: "Have events sent to a URL; their signing secret is shown only this once",
    body: CreateWebhookRequest,
    response: CreateWebhookResponse,
    creates: true,
    ...CHANGES,
    call: (operations, { caller, body }) =>
      operations.createWebhook({ caller, request: body as unknown as CreateWebhookRequest }),
  },
  {
    method: "GET",
    path: "/webhooks",
    id: "listWebhooks",
    summary: "List webhooks and their progress",
    query: ListWebhooksQuery,
    response: ListWebhooksResponse,
    ...BY_KEY,
    call: (operations, { caller, query }) => operations.listWebhooks({ caller, query }),
  },
  {
    method: "GET",
    path: "/webhooks/:webhookId",
    id: "getWebhook",
    summary: "Read a webhook and its progress",
    response: WebhookResponse,
    ...BY_KEY,
    call: (operations, request) => operations.getWebhook(oneOf(request)),
  },
  {
    method: "DELETE",
    path: "/webhooks/:webhookId",
    id: "deleteWebhook",
    summary: "Delete a webhook",
    response: DeleteWebhookResponse,
    ...CHANGES,
    call: (operations, request) => operations.deleteWebhook(oneOf(request)),
  },
  {
    method: "POST",
    path: "/webhooks/:webhookId/enable",
    id: "enableWebhook",
    summary: "Enable a webhook that was disabled; it continues where it stopped",
    body: EnableWebhookRequest,
    response: WebhookResponse,
    ...CHANGES,
    call: (operations, request) => operations.enableWebhook(oneOf(request)),
  },
  {
    method: "POST",
    path: "/webhooks/:webhookId/secret",
    id: "rotateWebhookSecret",
    summary: "Replace a webhook's secret; the old one keeps signing for a while",
    body: RotateWebhookSecretRequest,
    response: RotateWebhookSecretResponse,
    ...CHANGES,
    call: (operations, request) =>
      operations.rotateWebhookSecret({ ...oneOf(request), request: request.body as RotateWebhookSecretRequest }),
  },
  {
    method: "POST",
    path: "/webhooks/:webhookId/test",
    id: "testWebhook",
    summary: "Send a test message and report the result",
    body: TestWebhookRequest,
    response: TestWebhookResponse,
    ...BY_KEY,
    call: (operations, request) => operations.testWebhook(oneOf(request)),
  },
  {
    method: "POST",
    path: "/webhooks/:webhookId/skip",
    id: "skipEvents",
    summary: "Skip events that the receiver refuses",
    body: SkipEventsRequest,
    response: SkipEventsResponse,
    ...CHANGES,
    call: (operations, request) =>
      operations.skipEvents({ ...oneOf(request), request: request.body as SkipEventsRequest }),
  },
  {
    method: "POST",
    path: "/webhooks/:webhookId/replay",
    id: "replayEvents",
    summary: "Send events again: dead ones, those of a submission, or a time range",
    body: ReplayEventsRequest,
    response: ReplayEventsResponse,
    ...CHANGES,
    call: (operations, request) =>
      operations.replayEvents({ ...oneOf(request), request: request.body as ReplayEventsRequest }),
  },
];
