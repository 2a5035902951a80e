import { Webhook } from "standardwebhooks";

const PREFIX = "whsec_";
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^[A-Za-z0-9+/]{2}==$|^[A-Za-z0-9+/]{3}=$/;

/** `whsec_` and base64 is a key in Standard Webhooks format. For any other secret the key is its UTF-8 bytes. */
export function keyOf(secret: string): Uint8Array {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64") : Buffer.from(secret, "utf8");
}

export interface Signed {
  id: string;
  body: string;
  secrets: readonly string[];
  now: number;
}

/**
 * One signature per secret: while a secret is being replaced, receivers with the old or the new one can both verify.
 */
export function signatureHeaders({ id, body, secrets, now }: Signed): Record<string, string> {
  const at = new Date(now);
  const signatures = secrets.map((secret) => new Webhook(keyOf(secret), { format: "raw" }).sign(id, at, body));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now / 1000)),
    "webhook-signature": signatures.join(" "),
  };
}
