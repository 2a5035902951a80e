import { createHmac } from "node:crypto";
import { deriveKeys } from "./secrets.ts";

/** Signing secrets for intakes whose definition names none: newest first, one for each secret of the server. */
export type WebhookSecrets = (of: { tenant: string; intakeId: string }) => readonly string[];

/** Cached for this many intakes; for more, secrets are derived on each use. */
const MAX_KNOWN = 1_000;

export function createWebhookSecrets(secrets: readonly string[]): WebhookSecrets {
  const keys = deriveKeys(secrets, "webhooks");
  const known = new Map<string, readonly string[]>();
  return ({ tenant, intakeId }) => {
    const name = JSON.stringify([tenant, intakeId]);
    const derived =
      known.get(name) ?? keys.map(({ bytes }) => `whsec_${createHmac("sha256", bytes).update(name).digest("base64")}`);
    if (known.size < MAX_KNOWN) known.set(name, derived);
    return derived;
  };
}
