import { ALARM_PROMISES } from "./alarms.ts";
import { BAD_INPUT_PROMISES } from "./bad-input.ts";
import { CLIENT_PROMISES } from "./client.ts";
import { CONCURRENCY_PROMISES } from "./concurrency.ts";
import { CORNER_PROMISES } from "./corners.ts";
import { COURIER_PROMISES } from "./couriers.ts";
import { DELIVERY_PROMISES } from "./delivery.ts";
import { EVENTS_PROMISES } from "./events.ts";
import { FIELDS_PROMISES } from "./fields.ts";
import { HANDOFF_PROMISES } from "./handoffs.ts";
import { IDEMPOTENCY_PROMISES } from "./idempotency.ts";
import { JWT_PROMISES } from "./jwt.ts";
import { LISTS_PROMISES } from "./lists.ts";
import { MCP_PROMISES } from "./mcp.ts";
import { MCP_HUMAN_PROMISES } from "./mcp-human.ts";
import { NAMES_PROMISES } from "./names.ts";
import { OAI_PROMISES } from "./oai.ts";
import { OBSERVE_PROMISES } from "./observe.ts";
import { OPS_PROMISES } from "./ops.ts";
import { PAGES_PROMISES } from "./pages.ts";
import type { ContractPromise } from "./promise.ts";
import { RETENTION_PROMISES } from "./retention.ts";
import { REVIEWS_PROMISES } from "./reviews.ts";
import { RUNNING_PROMISES } from "./running.ts";
import { STATES_PROMISES } from "./states.ts";
import { STORES_PROMISES } from "./stores.ts";
import { TOKENS_PROMISES } from "./tokens.ts";
import { UPLOADS_PROMISES } from "./uploads.ts";
import { WEBHOOK_PROMISES } from "./webhooks.ts";

/** Every promise of the contract, chapter by chapter. */
export const PROMISES: readonly ContractPromise[] = [
  ...NAMES_PROMISES,
  ...FIELDS_PROMISES,
  ...STATES_PROMISES,
  ...TOKENS_PROMISES,
  ...CONCURRENCY_PROMISES,
  ...IDEMPOTENCY_PROMISES,
  ...EVENTS_PROMISES,
  ...WEBHOOK_PROMISES,
  ...RETENTION_PROMISES,
  ...DELIVERY_PROMISES,
  ...COURIER_PROMISES,
  ...UPLOADS_PROMISES,
  ...HANDOFF_PROMISES,
  ...RUNNING_PROMISES,
  ...REVIEWS_PROMISES,
  ...STORES_PROMISES,
  ...JWT_PROMISES,
  ...LISTS_PROMISES,
  ...OAI_PROMISES,
  ...MCP_PROMISES,
  ...MCP_HUMAN_PROMISES,
  ...BAD_INPUT_PROMISES,
  ...CORNER_PROMISES,
  ...CLIENT_PROMISES,
  ...OPS_PROMISES,
  ...PAGES_PROMISES,
  ...ALARM_PROMISES,
  ...OBSERVE_PROMISES,
];
