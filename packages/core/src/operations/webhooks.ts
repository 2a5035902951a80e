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
import { isWebUrl } from "../domain/webhooks/web-url.ts";
import type { StoredWebhook, Webhook } from "../domain/webhooks/webhook.ts";
import { EVENTS_WRITTEN } from "../ports/events.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Answer } from "./support/answer.ts";
import { requirePrincipal, requireRole } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { withoutCredentials } from "./support/intake-view.ts";
import { DEFAULT_PAGE, nextPage, openPage } from "./support/paging.ts";
import { sealSecret, withNewSecret } from "./support/webhook-secrets.ts";

const LIST = "webhooks";
const MAX_TRIES = 8;
const notThere = (): ContractError => new ContractError("not_found", "There is no such webhook.");

interface OneWebhookCall {
  caller: Caller;
  webhookId: string;
}

async function requireAdmin({ deps }: Context, caller: Caller): Promise<Principal> {
  const principal = await requirePrincipal(deps, caller);
  requireRole(principal, "admin");
  return principal;
}

/** A key that is limited to some intakes has to do with events of these alone. */
const isWithin = ({ intakes }: { intakes?: readonly string[] }, { intakes: reach }: Principal): boolean =>
  reach === undefined || (intakes?.every((id) => reach.includes(id)) ?? false);

/** The webhook, for who may see it; to anybody else it is not there. */
async function visible(context: Context, { caller, webhookId }: OneWebhookCall): Promise<StoredWebhook> {
  const principal = await requireAdmin(context, caller);
  const found = await context.deps.backend.webhooks.get({ tenant: principal.tenant, webhookId });
  if (found === undefined || !isWithin(found, principal)) throw notThere();
  return found;
}

export function webhookView({ progress, ...webhook }: StoredWebhook): WebhookView {
  const { webhookId, url, types, intakes, definedBy, createdAt } = webhook;
  const { state, failures, nextAttemptAt, lastError } = progress;
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
  };
}

export async function createWebhook(
  context: Context,
  call: { caller: Caller; request: CreateWebhookRequest },
): Promise<Answer<CreateWebhookResponse>> {
  const { deps } = context;
  const principal = await requireAdmin(context, call.caller);
  const { url, types, intakes } = call.request;
  if (!isWebUrl(url)) throw new ContractError("bad_request", "url must be a URL that starts with http: or https:.");
  if (!isWithin(call.request, principal)) {
    throw new ContractError("forbidden", "This key may make webhooks for its own intakes only.");
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
    throw new ContractError("conflict", `There are ${maxWebhooks} webhooks already: delete one first.`);
  }
  const stored = await deps.backend.webhooks.get(ref);
  if (stored === undefined) throw notThere();
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
    throw new ContractError("bad_request", "secret must be whsec_ and 24 to 64 bytes in base64.");
  }
  return secret;
}

export async function listWebhooks(
  context: Context,
  call: { caller: Caller; query: ListWebhooksQuery },
): Promise<Answer<ListWebhooksResponse>> {
  const { deps } = context;
  const principal = await requireAdmin(context, call.caller);
  const { limit: size, pageToken } = call.query;
  const { query, after } = await openPage(deps, LIST, {
    pageToken,
    limit: size === undefined ? undefined : String(size),
  });
  const limit = Number(query.limit ?? DEFAULT_PAGE);
  const where = { tenant: principal.tenant, ...(after !== undefined && { after }) };
  const rows = await deps.backend.webhooks.list(where, limit + 1);
  const last = rows.length > limit ? rows[limit - 1]?.webhookId : undefined;
  const items = rows
    .slice(0, limit)
    .filter((webhook) => isWithin(webhook, principal))
    .map(webhookView);
  return { body: { ok: true, items, ...(await nextPage(deps, { list: LIST, query, after: last })) } };
}

export async function getWebhook(context: Context, call: OneWebhookCall): Promise<Answer<WebhookResponse>> {
  return { body: { ok: true, webhook: webhookView(await visible(context, call)) } };
}

/** What a definition names is changed there. One that a retired intake left behind belongs to nobody else. */
async function refuseDefined({ deps }: Context, { definedBy }: Webhook): Promise<void> {
  if (definedBy === undefined || (await deps.backend.intakes.get(definedBy))?.retired !== false) return;
  throw new ContractError("conflict", `The webhook is defined by the intake ${definedBy}: change its definition.`);
}

export async function deleteWebhook(context: Context, call: OneWebhookCall): Promise<Answer<DeleteWebhookResponse>> {
  const webhook = await visible(context, call);
  await refuseDefined(context, webhook);
  if (!(await context.deps.backend.webhooks.remove(webhook))) throw notThere();
  return { body: { ok: true, webhookId: webhook.webhookId, deleted: true } };
}

export async function enableWebhook(context: Context, call: OneWebhookCall): Promise<Answer<WebhookResponse>> {
  const { deps } = context;
  const webhook = await visible(context, call);
  await deps.backend.webhooks.enable(webhook);
  deps.wakeups.notify(EVENTS_WRITTEN);
  const enabled = await deps.backend.webhooks.get(webhook);
  if (enabled === undefined) throw notThere();
  return { body: { ok: true, webhook: webhookView(enabled) } };
}

export async function rotateWebhookSecret(
  context: Context,
  call: OneWebhookCall & { request: RotateWebhookSecretRequest },
): Promise<Answer<RotateWebhookSecretResponse>> {
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
  throw new ContractError("conflict", "Others keep changing this webhook.", { retryable: true });
}
