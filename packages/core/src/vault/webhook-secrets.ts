import { createHmac } from "node:crypto";
import { deriveKeys } from "./secrets.ts";

/** What the deliveries of an intake are signed with when its definition names no secret: newest first, one for each secret of the server. */
export type WebhookSecrets = (of: { tenant: string; intakeId: string }) => readonly string[];

export function createWebhookSecrets(secrets: readonly string[]): WebhookSecrets {
  const keys = deriveKeys(secrets, "webhooks");
  return ({ tenant, intakeId }) =>
    keys.map(({ bytes }) => {
      const mac = createHmac("sha256", bytes).update(JSON.stringify([tenant, intakeId]));
      return `whsec_${mac.digest("base64")}`;
    });
}
