import type { Instant } from "../../domain/instant.ts";
import type { Webhook, WebhookSecret } from "../../domain/webhooks/webhook.ts";
import type { Sealer } from "../../ports/sealer.ts";
import type { WebhookRef } from "../../ports/webhooks.ts";
import type { Deps } from "../deps.ts";
import { opens } from "../read/open-snapshot.ts";

export const boundToWebhook = ({ tenant, webhookId }: WebhookRef): string => `webhook:${tenant}:${webhookId}`;

/** A receiver checks every signature of a message, so their number is limited. */
const MAX_SECRETS = 5;

export const sealSecret = (sealer: Sealer, webhook: WebhookRef, secret: string): WebhookSecret => ({
  sealed: sealer.seal(secret, boundToWebhook(webhook)),
});

/** The secrets with `next` in first place; earlier ones are still used for signing until they expire. */
export function withNewSecret(
  deps: Deps,
  webhook: Webhook,
  { next, now }: { next: string | undefined; now: Instant },
): WebhookSecret[] {
  const { sealer, settings } = deps;
  const until = now + settings.webhookSecretGraceMs;
  const own = ownSecrets(deps, webhook).map((secret) => sealSecret(sealer, webhook, secret));
  const old = [...own, ...webhook.secrets]
    .map((secret) => ({ ...secret, until: Math.min(secret.until ?? until, until) }))
    .filter((secret) => secret.until > now);
  const first = next === undefined ? [] : [sealSecret(sealer, webhook, next)];
  return [...first, ...old].slice(0, MAX_SECRETS);
}

/** The secrets that sign a message now. */
export function secretsAt(deps: Deps, webhook: Webhook, now: Instant): readonly string[] {
  const isSigning = ({ until }: WebhookSecret): boolean => until === undefined || until > now;
  const named = webhook.secrets
    .filter(isSigning)
    .map(({ sealed }) => deps.sealer.open(sealed, boundToWebhook(webhook)));
  return [...ownSecrets(deps, webhook), ...named];
}

/** The server's own secret, for an intake that names none. */
function ownSecrets({ webhookSecrets }: Deps, { tenant, definedBy, secrets }: Webhook): readonly string[] {
  const isNamed = secrets.some(({ until }) => until === undefined);
  return isNamed || definedBy === undefined ? [] : webhookSecrets({ tenant, intakeId: definedBy });
}

/** The secret that wasn't replaced, if there is one. */
export function currentSecret({ sealer }: Deps, webhook: Webhook): string | undefined {
  const current = webhook.secrets.find(({ until }) => until === undefined);
  return current && sealer.open(current.sealed, boundToWebhook(webhook));
}

/** Whether these secrets open the webhook's own. */
export const opensWebhook = (sealer: Sealer, webhook: Webhook): boolean =>
  webhook.secrets.every(({ sealed }) => opens(() => sealer.open(sealed, boundToWebhook(webhook))));
