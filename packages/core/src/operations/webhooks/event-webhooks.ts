import type { EventType, IntakeDefinition } from "@formbridge/contract";
import { canonicalJson, sha256 } from "../../domain/hashing.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import type { Context } from "../context.ts";
import { currentSecret, sealSecret, withNewSecret } from "./webhook-secrets.ts";

type Declared = NonNullable<IntakeDefinition["eventWebhooks"]>[number] & { webhookId: string };

const MAX_TRIES = 8;
const ALL = 1_000;

/**
 * Makes an intake's webhooks match its current definition. Safe to repeat and to run concurrently: a defined webhook
 * always has the same id, and whoever then finds a newer definition starts over.
 */
export async function keepEventWebhooks(context: Context, intakeId: string): Promise<void> {
  const { intakes } = context.deps.backend;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = await intakes.get(intakeId);
    if (stored === undefined) return;
    await makeSo(context, { tenant: stored.tenant, definition: stored.definition });
    if ((await intakes.get(intakeId))?.digest === stored.digest) return;
  }
}

async function makeSo(
  context: Context,
  { tenant, definition }: { tenant: string; definition: IntakeDefinition },
): Promise<void> {
  const { webhooks } = context.deps.backend;
  const declared = declaredBy(definition);
  const there = await webhooks.list({ tenant, definedBy: definition.id }, ALL);
  const named = new Set(declared.map(({ webhookId }) => webhookId));
  for (const webhook of there) if (!named.has(webhook.webhookId)) await webhooks.remove(webhook);
  for (const one of declared) {
    const known = there.find(({ webhookId }) => webhookId === one.webhookId);
    if (known === undefined) await add(context, one, { tenant, intakeId: definition.id });
    else await bringUpToDate(context, known, one);
  }
}

/**
 * Identified by its URL, and its position among those with the same URL, so that a change of types or secret keeps its
 * progress.
 */
function declaredBy({ id, eventWebhooks = [] }: IntakeDefinition): Declared[] {
  const seen = new Map<string, number>();
  return eventWebhooks.map((hook) => {
    const nth = seen.get(hook.url) ?? 0;
    seen.set(hook.url, nth + 1);
    return { ...hook, webhookId: `whk_${sha256(canonicalJson([id, hook.url, nth])).slice(0, 32)}` };
  });
}

async function add(
  { deps }: Context,
  { webhookId, url, types, secret }: Declared,
  { tenant, intakeId }: { tenant: string; intakeId: string },
): Promise<void> {
  await deps.backend.webhooks.add({
    webhookId,
    tenant,
    url,
    ...(types && { types: types as EventType[] }),
    intakes: [intakeId],
    definedBy: intakeId,
    secrets: secret === undefined ? [] : [sealSecret(deps.sealer, { tenant, webhookId }, secret)],
    createdAt: await deps.backend.deadlines.now(),
    revision: 1,
  });
}

async function bringUpToDate({ deps }: Context, known: Webhook, { types, secret }: Declared): Promise<void> {
  const isSameSecret = currentSecret(deps, known) === secret;
  if (isSameSecret && canonicalJson(known.types ?? null) === canonicalJson(types ?? null)) return;
  const now = await deps.backend.deadlines.now();
  const { webhookId, tenant, url, intakes, definedBy, createdAt, revision } = known;
  await deps.backend.webhooks.update({
    webhookId,
    tenant,
    url,
    ...(types && { types: types as EventType[] }),
    ...(intakes && { intakes }),
    ...(definedBy !== undefined && { definedBy }),
    secrets: isSameSecret ? known.secrets : withNewSecret(deps, known, { next: secret, now }),
    createdAt,
    revision: revision + 1,
  });
}
