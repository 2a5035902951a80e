import type {
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeleteWebhookResponse,
  ListWebhooksQuery,
  ListWebhooksResponse,
  RotateWebhookSecretRequest,
  RotateWebhookSecretResponse,
  WebhookResponse,
  WebhookView,
} from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { toIso } from "../domain/instant.ts";
import { enabled, MAX_BLOCKED } from "../domain/webhooks/round.ts";
import { isWebUrl } from "../domain/webhooks/web-url.ts";
import type { BlockedQueue, StoredWebhook, Webhook } from "../domain/webhooks/webhook.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { reachesAll, requirePrincipal } from "./identity/authenticate.ts";
import { withoutCredentials } from "./read/intake-view.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";
import { amendProgress, noWebhook } from "./webhooks/amend-webhook.ts";
import { sealSecret, withNewSecret } from "./webhooks/webhook-secrets.ts";

const LIST = "webhooks";
const MAX_TRIES = 8;

export interface OneWebhookCall {
  caller: Caller;
  webhookId: string;
}

/** The webhook, if the caller may see it; otherwise it doesn't exist. */
export async function visible(context: Context, { caller, webhookId }: OneWebhookCall): Promise<StoredWebhook> {
  const principal = await requirePrincipal(context.deps, caller, "admin");
  const found = await context.deps.backend.webhooks.get({ tenant: principal.tenant, webhookId });
  if (found === undefined || !reachesAll(principal, found.intakes)) throw noWebhook();
  return found;
}

export function webhookView({ progress, ...webhook }: StoredWebhook): WebhookView {
  const { webhookId, url, types, intakes, definedBy, createdAt } = webhook;
  const { state, failures, nextAttemptAt, lastError } = progress;
  const blocked = progress.blocked.filter((line) => line.failures > 0);
  return {
    webhookId,
    url: withoutCredentials(url),
    ...(types && { types: [...types] }),
    ...(intakes && { intakes: [...intakes] }),
    ...(definedBy !== undefined && { definedBy }),
    createdAt: toIso(createdAt),
    state,
    failures,
    ...(state === "active" && failures > 0 && { nextAttemptAt: toIso(nextAttemptAt) }),
    ...(lastError !== undefined && { lastError }),
    ...(progress.blocked.length >= MAX_BLOCKED && { paused: true as const }),
    ...(blocked.length > 0 && { blocked: blocked.map(blockedView) }),
  };
}

const blockedView = ({
  submissionId,
  eventId,
  failures,
  ...line
}: BlockedQueue): NonNullable<WebhookView["blocked"]>[number] => ({
  submissionId,
  eventId,
  failures,
  ...(line.lastError !== undefined && { lastError: line.lastError }),
  ...(line.dead ? { dead: true } : { nextAttemptAt: toIso(line.nextAttemptAt) }),
});

export async function createWebhook(
  context: Context,
  call: { caller: Caller; request: CreateWebhookRequest },
): Promise<OperationResponse<CreateWebhookResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller, "admin");
  const { url, types, intakes } = call.request;
  if (!isWebUrl(url)) throw new ContractError("bad_request", "url must be a URL that starts with http: or https:.");
  if (!reachesAll(principal, intakes)) {
    throw new ContractError("forbidden", "This key may only create webhooks for its own intakes.");
  }
  const secret = checkedSecret(call.request.secret) ?? deps.random.webhookSecret();
  const ref = { webhookId: deps.random.newId("whk"), tenant: principal.tenant };
  const webhook: Webhook = {
    ...ref,
    url,
    ...(types && { types: [...types] }),
    ...(intakes && { intakes: [...intakes] }),
    secrets: [sealSecret(deps.sealer, ref, secret)],
    createdAt: await deps.backend.deadlines.now(),
    revision: 1,
  };
  const { maxWebhooks } = deps.settings;
  if ((await deps.backend.webhooks.add(webhook, maxWebhooks)) !== "added") {
    throw new ContractError("conflict", `There are ${maxWebhooks} webhooks already. Delete one first.`);
  }
  const stored = await deps.backend.webhooks.get(ref);
  if (stored === undefined) throw noWebhook();
  return { body: { ok: true, webhook: webhookView(stored), secret }, created: true };
}

const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

function checkedSecret(secret: string | undefined): string | undefined {
  if (secret === undefined) return undefined;
  const base64 = secret.slice("whsec_".length);
  const bytes = Buffer.from(base64, "base64");
  const isWhole = bytes.toString("base64").replace(/=+$/, "") === base64.replace(/=+$/, "");
  if (!isWhole || bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) {
    throw new ContractError("bad_request", "secret must be whsec_ followed by 24 to 64 bytes in base64.");
  }
  return secret;
}

export async function listWebhooks(
  context: Context,
  call: { caller: Caller; query: ListWebhooksQuery },
): Promise<OperationResponse<ListWebhooksResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller, "admin");
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { after, limit } = page;
  const where = { tenant: principal.tenant, ...(after !== undefined && { after }) };
  const rows = await deps.backend.webhooks.list(where, limit + 1);
  const last = rows.length > limit ? rows[limit - 1]?.webhookId : undefined;
  const items = rows
    .slice(0, limit)
    .filter((webhook) => reachesAll(principal, webhook.intakes))
    .map(webhookView);
  // A caller who sees only some of them gets no total.
  const count =
    principal.intakes === undefined
      ? (atMost: number) => deps.backend.webhooks.count({ tenant: principal.tenant }, atMost)
      : undefined;
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: last, shown: items.length, count })) } };
}

export async function getWebhook(context: Context, call: OneWebhookCall): Promise<OperationResponse<WebhookResponse>> {
  return { body: { ok: true, webhook: webhookView(await visible(context, call)) } };
}

/** Webhooks of a definition are changed there. One left behind by a retired intake can be changed here. */
async function refuseDefined({ deps }: Context, { definedBy }: Webhook): Promise<void> {
  if (definedBy === undefined || (await deps.backend.intakes.get(definedBy))?.retired !== false) return;
  throw new ContractError(
    "conflict",
    `The webhook is part of the definition of the intake ${definedBy}. Change it there.`,
  );
}

export async function deleteWebhook(
  context: Context,
  call: OneWebhookCall,
): Promise<OperationResponse<DeleteWebhookResponse>> {
  const webhook = await visible(context, call);
  await refuseDefined(context, webhook);
  if (!(await context.deps.backend.webhooks.remove(webhook))) throw noWebhook();
  return { body: { ok: true, webhookId: webhook.webhookId, deleted: true } };
}

export async function enableWebhook(
  context: Context,
  call: OneWebhookCall,
): Promise<OperationResponse<WebhookResponse>> {
  const webhook = await amendProgress(context, await visible(context, call), enabled);
  return { body: { ok: true, webhook: webhookView(webhook) } };
}

export async function rotateWebhookSecret(
  context: Context,
  call: OneWebhookCall & { request: RotateWebhookSecretRequest },
): Promise<OperationResponse<RotateWebhookSecretResponse>> {
  const { deps } = context;
  const secret = checkedSecret(call.request.secret) ?? deps.random.webhookSecret();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { progress: _, ...webhook } = await visible(context, call);
    await refuseDefined(context, webhook);
    const now = await deps.backend.deadlines.now();
    const secrets = withNewSecret(deps, webhook, { next: secret, now });
    if (!(await deps.backend.webhooks.update({ ...webhook, secrets, revision: webhook.revision + 1 }))) continue;
    const oldSecretUntil = toIso(now + deps.settings.webhookSecretGraceMs);
    return { body: { ok: true, webhookId: webhook.webhookId, secret, oldSecretUntil } };
  }
  throw new ContractError("conflict", "This webhook is being changed by others right now. Try again.", {
    retryable: true,
  });
}
