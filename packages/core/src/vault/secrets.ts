import { createHash, hkdfSync } from "node:crypto";

/** A key with an id that can be stored beside what was sealed or signed with it. */
export interface NamedKey {
  id: string;
  bytes: Buffer;
}

/**
 * Derives the keys for one purpose from the server's secrets, newest first. The first one seals and signs, all of them open and
 * verify: to rotate a secret, put a new one in front.
 */
export function deriveKeys(secrets: readonly string[], purpose: string): [NamedKey, ...NamedKey[]] {
  const [newest, ...older] = secrets.map((secret) => deriveKey(secret, purpose));
  if (newest === undefined) throw new Error("at least one secret is needed");
  return [newest, ...older];
}

function deriveKey(secret: string, purpose: string): NamedKey {
  const bytes = Buffer.from(hkdfSync("sha256", secret, "formbridge", purpose, 32));
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
}
